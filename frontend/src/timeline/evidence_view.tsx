import type { JSX } from 'preact';
import { count, plural } from '../lib/format';
import { type Check, capital, readChecks, severityOf } from '../model/health';
import { useTable } from '../model/remote';
import { evidence } from '../model/state';
import { SeveritySign } from '../views/parts/severity';
import type { Timeline } from './controller';
import { type Marked, marked, markedIndex, marking, markingProblem } from './marked';

/** Which finding's events are gone through, which of them is looked at, and the way on. */
export function EvidenceBar({ timeline }: { timeline: Timeline }): JSX.Element | null {
  const check = evidence.value;
  const { data } = useTable('health', check === null ? null : {});
  if (check === null) return null;
  const found = data && readChecks(data).find((one) => one.check === check);
  const list = marked.value?.of === 'check' && marked.value.title === check ? marked.value : null;
  const events = list?.id.length ?? 0;
  const somewhereElse = events > 1 || (events === 1 && markedIndex.value < 0);
  return (
    <div class="evidence" data-testid="evidence" data-check={check}>
      {found && <SeveritySign severity={severityOf(found.severity)} />}
      <p class="evidence-text" title={found ? `${found.detail} ${found.hint}` : undefined}>
        <b>{capital(check)}</b> <span class="muted">{found?.detail}</span>
      </p>
      <span class="evidence-count" role="status" data-testid="marked-count" data-total={list?.total}>
        {tell(list, found ?? null)}
      </span>
      {somewhereElse && (
        <>
          <button
            type="button"
            data-testid="marked-previous"
            title="Previous (Shift + Enter)"
            onClick={() => timeline.goToMarked(-1)}
          >
            ‹ Previous
          </button>
          <button type="button" data-testid="marked-next" title="Next (Enter)" onClick={() => timeline.goToMarked(1)}>
            Next ›
          </button>
        </>
      )}
      <button
        type="button"
        class="quiet"
        aria-label="Close the evidence"
        title="Take the marks away"
        onClick={() => (evidence.value = null)}
      >
        ✕
      </button>
    </div>
  );
}

function tell(list: Marked | null, found: Check | null): string {
  if (markingProblem.value) return markingProblem.value;
  if (marking.value || !list) return '…';
  if (list.total === 0) return found?.severity === 'ok' ? 'nothing found' : 'no events to show';
  if (list.id.length === 0) return `${plural(list.total, 'event')} without a time: nowhere in the timeline`;
  return markedIndex.value < 0
    ? plural(list.id.length, 'event')
    : `${count(markedIndex.value + 1)} of ${count(list.id.length)}`;
}

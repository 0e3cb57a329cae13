import type { JSX } from 'preact';
import { duration, exactTime, percent, plural } from '../../lib/format';
import { canShow, type Finding, isWebLink, readAdvice, showEvidence } from '../../model/advice';
import { useTable } from '../../model/remote';
import { info, showInTimeline } from '../../model/state';
import { nanoseconds, numbers, texts } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Busy, CopyButton, ProblemBox, Section } from '../parts/bits';

/** What could be faster, most first; what was checked and is fine, and what could not be checked. */
export function Findings({ causes }: { causes: Table | null }): JSX.Element {
  const { data, problem } = useTable('advice', {});
  if (problem) return <ProblemBox problem={problem} />;
  if (!data) return <Busy what="Looking for what could be faster…" />;
  const all = readAdvice(data);
  const of = (status: string) => all.filter((one) => one.status === status);
  const found = of('found');
  return (
    <Section title="What could be faster" id="findings">
      {found.length > 0 ? (
        <ol class="findings">
          {found.map((one) => (
            <FindingItem key={one.rule} finding={one} causes={causes} />
          ))}
        </ol>
      ) : (
        <p class="hint">{nothing(of('fine').length)}</p>
      )}
      {found.length > 0 && <Notes table={data} />}
      <Checked title="Checked and fine" list={of('fine')} testId="advice-fine" />
      <Checked title="Could not be checked" list={of('unknown')} testId="advice-unknown" />
    </Section>
  );
}

function nothing(fine: number): string {
  if (fine > 0) return `Of ${plural(fine, 'rule')} that could be checked, none applies.`;
  return 'Nothing could be checked: record a few steps with ProfilerActivity.CPU and CUDA, and call prof.step() once per iteration.';
}

function Notes({ table }: { table: Table }): JSX.Element {
  return (
    <>
      {table.notes.map((note) => (
        <p class="hint" key={note}>
          {note}
        </p>
      ))}
    </>
  );
}

function FindingItem({ finding, causes }: { finding: Finding; causes: Table | null }): JSX.Element {
  const longest = longestOf(finding, causes);
  return (
    <li class="finding" data-testid="finding" data-rule={finding.rule}>
      <Gain finding={finding} />
      <div class="finding-text">
        <h3>{finding.title}</h3>
        <p>{finding.claim}</p>
        <details>
          <summary>How to fix</summary>
          <p>
            {finding.fix} <Documentation link={finding.link} />
          </p>
        </details>
      </div>
      <div class="finding-actions">
        {canShow(finding.evidence) ? (
          <button
            type="button"
            class="primary"
            data-testid="finding-show"
            onClick={() => showEvidence(finding.evidence)}
          >
            Show me
          </button>
        ) : (
          <CopyButton text={`kinetoscope show ${finding.evidence.view}`} label="Copy command" />
        )}
        {longest && (
          <button
            type="button"
            class="quiet"
            onClick={() => showInTimeline(longest.start, longest.length, longest.what)}
          >
            Longest, in timeline
          </button>
        )}
      </div>
    </li>
  );
}

function Gain({ finding }: { finding: Finding }): JSX.Element {
  const per = (info.value?.steps.length ?? 0) > 0 ? 'a step' : 'in all';
  if (finding.gain === null) {
    return (
      <div class="gain muted" title="How much this costs cannot be told">
        no bound
      </div>
    );
  }
  return (
    <div
      class="gain"
      title={`At most ${exactTime(finding.gain)} ${per}. Gains of several findings overlap and do not add up.`}
    >
      <span class="muted">up to</span>
      <b data-testid="finding-gain" data-gain-ns={finding.gain}>
        {duration(finding.gain)}
      </b>
      <span class="muted">
        {per}
        {finding.gainShare !== null && `, ${percent(finding.gainShare)}`}
      </span>
    </div>
  );
}

/** The address is shown, so that it can be copied where the frame may not open windows. */
function Documentation({ link }: { link: string }): JSX.Element | null {
  if (!isWebLink(link)) return null;
  return (
    <span class="documentation">
      <a href={link} target="_blank" rel="noopener noreferrer">
        {link}
      </a>{' '}
      <CopyButton text={link} label="Copy link" />
    </span>
  );
}

/** The longest stretch of idle time of the cause that a finding is about. */
function longestOf(finding: Finding, causes: Table | null) {
  const { cause } = finding.evidence.parameters;
  if (!causes || !cause) return null;
  const lengths = nanoseconds(causes, 'longest_us');
  const row = texts(causes, 'cause').reduce(
    (best, one, i) => (one === cause && (best < 0 || (lengths[i] ?? 0) > (lengths[best] ?? 0)) ? i : best),
    -1,
  );
  const start = row < 0 ? null : nanoseconds(causes, 'longest_start_us')[row];
  const gap = row < 0 ? null : numbers(causes, 'longest_gap')[row];
  if (start === null || gap === null) return null;
  return { start, length: lengths[row] ?? 0, what: { kind: 'gap', gap } as const };
}

function Checked({ title, list, testId }: { title: string; list: Finding[]; testId: string }): JSX.Element | null {
  if (list.length === 0) return null;
  return (
    <details class="checked" data-testid={testId}>
      <summary>
        {title} ({list.length})
      </summary>
      <ul>
        {list.map((one) => (
          <li key={one.rule}>
            <b>{one.title}</b>: {one.claim}
          </li>
        ))}
      </ul>
    </details>
  );
}

import type { JSX } from 'preact';
import { count } from '../lib/format';
import { eventQuery, eventTime, evidence } from '../model/state';
import { type Marked, marked, markedIndex, marking, markingProblem } from './marked';

function hits(): Marked | null {
  return marked.value?.of === 'search' ? marked.value : null;
}

/** How many events match, and which of them is looked at. */
export function SearchCount(): JSX.Element | null {
  if (eventQuery.value.trim() === '' || evidence.value !== null) return null;
  return (
    <span class="search-count" data-testid="search-count" role="status" data-total={hits()?.total} title={title()}>
      {text()}
    </span>
  );
}

function text(): string {
  if (markingProblem.value) return 'failed';
  const found = hits();
  if (marking.value || !found) return '…';
  const { total } = found;
  if (total === 0) return 'no hit';
  return markedIndex.value < 0 ? `${count(total)} hits` : `${count(markedIndex.value + 1)} of ${count(total)}`;
}

function title(): string {
  if (markingProblem.value) return markingProblem.value;
  const found = hits();
  if (!found) return '';
  const listed = found.id.length;
  const part = listed < found.total ? `; Enter goes through the first ${count(listed)}` : '';
  const when = eventTime.value ? ' in the chosen time' : '';
  return `${count(found.total)} events of ${count(found.bright?.size)} names${when}${part}. Enter: next, Shift + Enter: previous.`;
}

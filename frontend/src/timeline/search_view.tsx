import type { JSX } from 'preact';
import { count } from '../lib/format';
import { eventQuery } from '../model/state';
import { found, hitIndex, searching, searchProblem } from './search';

/** How many events match, and which of them is looked at. */
export function SearchCount(): JSX.Element | null {
  if (eventQuery.value.trim() === '') return null;
  return (
    <span
      class="search-count"
      data-testid="search-count"
      role="status"
      data-total={found.value?.result.total}
      title={title()}
    >
      {text()}
    </span>
  );
}

function text(): string {
  if (searchProblem.value) return 'failed';
  if (searching.value || !found.value) return '…';
  const { total } = found.value.result;
  if (total === 0) return 'no hit';
  return hitIndex.value < 0 ? `${count(total)} hits` : `${count(hitIndex.value + 1)} of ${count(total)}`;
}

function title(): string {
  if (searchProblem.value) return searchProblem.value;
  const result = found.value?.result;
  if (!result) return '';
  const listed = result.hits.id.length;
  const part = listed < result.total ? `; Enter goes through the first ${count(listed)}` : '';
  return `${count(result.total)} events of ${count(result.names.length)} names${part}. Enter: next, Shift + Enter: previous.`;
}

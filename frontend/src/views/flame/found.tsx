import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { isTyping } from '../../lib/browser';
import { count, percent, plural } from '../../lib/format';
import { type Matches, matchesOf } from '../../model/stack_matches';
import { zoomToSee } from '../../model/stack_zoom';
import { chosenRow, type Flame, nodeOf, WEIGHT_WORDS, weightExact, weightText } from '../../model/stacks';
import { flameQuery, flameZoom, selection } from '../../model/state';
import { column } from '../../model/tables';

/** How many frames a search has found, what they have together, and the way from one to the next. */
export function Found({ whole, query }: { whole: Flame | null; query: string }): JSX.Element | null {
  const found = useMemo(() => whole && matchesOf(whole, query), [whole, query]);
  const asked = flameQuery.value.trim();
  useSteps(whole, found);
  if (asked === '') return null;
  if (!whole || !found || asked !== query) {
    return (
      <p class="flame-found" role="status">
        Looking for frames…
      </p>
    );
  }
  const chosen = chosenRow(whole.table, selection.value);
  const at = chosen === null ? -1 : found.rows.indexOf(chosen);
  return (
    <p class="flame-found" data-testid="flame-found" data-frames={found.rows.length}>
      <span role="status">
        <Told flame={whole} found={found} />
      </span>
      {found.rows.length > 0 && (
        <span class="row">
          <button type="button" class="quiet" title="Shift + N" onClick={() => step(whole, found, -1)}>
            ‹ Previous
          </button>
          <span class="muted" data-testid="flame-found-at">
            {at < 0 ? '–' : count(at + 1)} of {count(found.rows.length)}
          </span>
          <button
            type="button"
            class="quiet"
            title="N, or Enter in the search box"
            onClick={() => step(whole, found, 1)}
          >
            Next ›
          </button>
        </span>
      )}
    </p>
  );
}

function Told({ flame, found }: { flame: Flame; found: Matches }): JSX.Element {
  const { weight } = flame;
  const words = WEIGHT_WORDS[weight].toLowerCase();
  if (found.rows.length === 0) return <>No frame with {words} fits.</>;
  const number =
    found.all === null ? plural(found.rows.length, 'frame') : `The largest of ${plural(found.all, 'frame')}`;
  return (
    <>
      {number},{' '}
      <b title={`${weightExact(weight, found.value)} of ${words}; a frame within another one counts once`}>
        {weightText(weight, found.value)}
      </b>{' '}
      ({percent((100 * found.value) / (flame.whole || 1))} of {words})
    </>
  );
}

/** Goes to the next frame that was found: tells about it, and zooms where it cannot be seen. */
function step(flame: Flame, found: Matches, by: 1 | -1): void {
  const { table } = flame;
  const chosen = chosenRow(table, selection.peek());
  const at = chosen === null ? -1 : found.rows.indexOf(chosen);
  const number = found.rows.length;
  const row = found.rows[at < 0 ? (by > 0 ? 0 : number - 1) : (at + by + number) % number];
  const name = column(table, 'name')[row];
  const node = nodeOf(table, row);
  if (typeof name !== 'string' || node === null) return;
  const px = document.querySelector('.icicle')?.clientWidth || 1000;
  selection.value = { kind: 'frame', name, node };
  flameZoom.value = zoomToSee(flame, row, flameZoom.peek(), px);
}

function isStep(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
  const { target, key } = event;
  const box = target instanceof HTMLElement && target.dataset.testid === 'search-box';
  return box ? key === 'Enter' : key.toLowerCase() === 'n' && !isTyping(target);
}

/** N and Shift + N, and Enter in the search box. */
function useSteps(flame: Flame | null, found: Matches | null): void {
  const latest = useRef({ flame, found });
  latest.current = { flame, found };
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const now = latest.current;
      if (!isStep(event) || !now.flame || !now.found?.rows.length) return;
      event.preventDefault();
      step(now.flame, now.found, event.shiftKey ? -1 : 1);
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
}

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { percent, plural } from '../../lib/format';
import { useTable } from '../../model/remote';
import {
  type Flame,
  flameOf,
  hidesStackless,
  WEIGHT_WORDS,
  weightExact,
  weightText,
  withoutStackless,
} from '../../model/stacks';
import {
  filter,
  filterWords,
  flameForm,
  flameFrames,
  flameStackless,
  flameWeight,
  flameZoom,
  selectionParameters,
} from '../../model/state';
import { above } from '../../model/tree';
import { Busy, ProblemBox, Section } from '../parts/bits';
import { TableNotes } from '../parts/notes';
import { WithinChoice } from '../parts/within';
import { Controls, Tools } from './controls';
import { Picture } from './picture';
import { FrameTable } from './table';

export function FlamePage(): JSX.Element {
  const asked = { form: flameForm.value, weight: flameWeight.value, frames: flameFrames.value };
  const remote = useTable('stacks', { ...asked, ...selectionParameters(filter.value) });
  const flame = useMemo(
    () => remote.data && flameOf(remote.data, flameForm.value, flameWeight.value),
    [remote.data, flameForm.value, flameWeight.value],
  );
  return (
    <div class="page fixed" data-testid="page-flame">
      <h1 class="offscreen">Flame</h1>
      {remote.problem && <ProblemBox problem={remote.problem} />}
      {!flame && !remote.problem && <Busy what="Adding up the stacks…" />}
      {flame && <Body flame={flame} />}
    </div>
  );
}

function Body({ flame }: { flame: Flame }): JSX.Element {
  const { table, weight, whole } = flame;
  const [listed, setListed] = useState(false);
  const hides = hidesStackless(flame, flameStackless.value);
  const shown = useMemo(() => (hides ? withoutStackless(flame) : flame), [flame, hides]);
  const known = flameZoom.value !== null && flameZoom.value < table.rows;
  const zoom = known && !(hides && flameZoom.value === flame.stackless) ? flameZoom.value : null;
  return (
    <>
      <div class="headline">
        <p class="verdict">
          <b title={weightExact(weight, whole)}>{weightText(weight, whole)}</b> of {WEIGHT_WORDS[weight].toLowerCase()}
          {filter.value && ` ${filterWords(filter.value)}`}, in {plural(table.rows, 'frame')}.
        </p>
        <WithinChoice />
      </div>
      <TableNotes notes={table.notes} />
      {hides && <Hidden flame={flame} />}
      <Section title="Call stacks" class="grow" aside={<Tools flame={flame} listed={listed} setListed={setListed} />}>
        <Controls flame={flame} />
        {whole === 0 && <Empty flame={flame} />}
        {whole > 0 && <Crumbs flame={shown} zoom={zoom} />}
        {whole > 0 && (listed ? <FrameTable flame={shown} zoom={zoom} /> : <Picture flame={shown} zoom={zoom} />)}
      </Section>
    </>
  );
}

/** What the picture leaves out. */
function Hidden({ flame }: { flame: Flame }): JSX.Element {
  const { weight, values, whole, stackless } = flame;
  const value = stackless === null ? 0 : values[stackless];
  return (
    <p class="hint" data-testid="flame-hidden">
      <span title={weightExact(weight, value)}>
        {weightText(weight, value)} of {WEIGHT_WORDS[weight].toLowerCase()}, {percent((100 * value) / (whole || 1))}
      </span>
      , has no stack and is hidden.{' '}
      <button type="button" class="quiet" onClick={() => (flameStackless.value = 'shown')}>
        Show it
      </button>
    </p>
  );
}

function Empty({ flame }: { flame: Flame }): JSX.Element {
  return (
    <p class="grid-empty" data-testid="flame-empty">
      No {WEIGHT_WORDS[flame.weight].toLowerCase()} in any stack.
      {flame.weight === 'allocated' && (
        <>
          {' '}
          Allocations are recorded with <code>profile_memory=True</code>.
        </>
      )}
    </p>
  );
}

/** The way to what is zoomed to. */
function Crumbs({ flame, zoom }: { flame: Flame; zoom: number | null }): JSX.Element | null {
  if (zoom === null) return null;
  const path = above(flame.tree, zoom);
  const shown = path.slice(-3);
  const button = (row: number | null, label: string) => (
    <button type="button" class="quiet crumb" title={label} onClick={() => (flameZoom.value = row)}>
      {label}
    </button>
  );
  return (
    <nav class="crumbs" aria-label="Zoomed to" data-testid="crumbs">
      {button(null, 'All')}
      {path.length > shown.length && <span class="muted">› …</span>}
      {shown.map((row) => (
        <span key={row} class="crumb-step">
          <span class="muted">›</span>
          {button(row, flame.names[row])}
        </span>
      ))}
      <span class="muted">›</span>
      <b class="crumb" title={flame.names[zoom]}>
        {flame.names[zoom]}
      </b>
    </nav>
  );
}

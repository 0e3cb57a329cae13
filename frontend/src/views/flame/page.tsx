import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { blend, kindColour, word } from '../../lib/colours';
import { percent, plural } from '../../lib/format';
import { wordFilter } from '../../lib/names';
import { useTable } from '../../model/remote';
import {
  type Flame,
  flameOf,
  frameKind,
  KIND_WORDS,
  WEIGHT_WORDS,
  weightExact,
  weights,
  weightText,
} from '../../model/stacks';
import {
  FLAME_WEIGHTS,
  type FlameColour,
  type FlameForm,
  type FlameFrames,
  type FlameWeight,
  filter,
  flameColour,
  flameForm,
  flameFrames,
  flameQuery,
  flameWeight,
  flameZoom,
  go,
  selection,
  theme,
} from '../../model/state';
import { allRows, texts } from '../../model/tables';
import { above } from '../../model/tree';
import { Busy, Choice, ProblemBox, Section, Swatch } from '../parts/bits';
import { Export } from '../parts/export';
import { Icicle } from '../parts/icicle';
import { TableNotes } from '../parts/notes';
import { FrameTable } from './table';

export function FlamePage(): JSX.Element {
  const asked = { form: flameForm.value, weight: flameWeight.value, frames: flameFrames.value };
  const remote = useTable('stacks', asked);
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
  const zoom = flameZoom.value !== null && flameZoom.value < table.rows ? flameZoom.value : null;
  return (
    <>
      <p class="verdict">
        <b title={weightExact(weight, whole)}>{weightText(weight, whole)}</b> of {WEIGHT_WORDS[weight].toLowerCase()} in{' '}
        {plural(table.rows, 'frame')}
        {filter.value && ', of the whole recording: stacks are not narrowed to the chosen time'}.
      </p>
      <TableNotes notes={table.notes} />
      <Section title="Call stacks" class="grow" aside={<Tools table={table} listed={listed} setListed={setListed} />}>
        <Controls flame={flame} />
        {whole === 0 && <Empty flame={flame} />}
        {whole > 0 && <Crumbs flame={flame} zoom={zoom} />}
        {whole > 0 && (listed ? <FrameTable flame={flame} zoom={zoom} /> : <Picture flame={flame} zoom={zoom} />)}
      </Section>
    </>
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

interface ToolsProps {
  table: Flame['table'];
  listed: boolean;
  setListed: (on: boolean) => void;
}

function Tools({ table, listed, setListed }: ToolsProps): JSX.Element {
  return (
    <>
      <Choice
        label="How it is shown"
        value={listed ? 'table' : 'picture'}
        options={[
          { value: 'picture', label: 'Picture' },
          { value: 'table', label: 'Table', help: 'The same as a table' },
        ]}
        onChange={(value) => setListed(value === 'table')}
      />
      <button type="button" class="quiet" title="In the order of time: the timeline" onClick={() => go('timeline')}>
        In order of time
      </button>
      <Export table={table} order={allRows(table)} name={`stacks-${flameForm.value}`} />
    </>
  );
}

const FORMS: { value: FlameForm; label: string; help: string }[] = [
  { value: 'top_down', label: 'Top down', help: 'Callers above what they call' },
  { value: 'inverted', label: 'Inverted', help: 'What is called above its callers' },
  { value: 'file', label: 'By file', help: 'Files above their frames, by what is their own' },
];
const FRAMES: { value: FlameFrames; label: string; help: string }[] = [
  { value: 'python', label: 'Python', help: 'Python frames only' },
  { value: 'all', label: 'With operators', help: 'Operators and annotations too' },
];
const COLOURS: { value: FlameColour; label: string; help: string }[] = [
  { value: 'kind', label: 'Kind', help: 'Colour by what a frame is' },
  { value: 'device', label: 'Device share', help: 'The darker, the more of the device work is below' },
];

function Controls({ flame }: { flame: Flame }): JSX.Element {
  const set =
    <T,>(atom: { value: T }) =>
    (value: T) => {
      atom.value = value;
      // Numbers of frames mean nothing in another tree.
      flameZoom.value = null;
    };
  const offered = FLAME_WEIGHTS.filter(
    (one) => one === 'auto' || flame.known.includes(one) || one === flameWeight.value,
  );
  return (
    <div class="flame-controls">
      <Choice label="Form" value={flameForm.value} options={FORMS} onChange={set(flameForm)} />
      <Choice label="Frames" value={flameFrames.value} options={FRAMES} onChange={set(flameFrames)} />
      <label class="inline">
        Width{' '}
        <select
          data-testid="flame-weight"
          value={flameWeight.value}
          onChange={(event) => set(flameWeight)(event.currentTarget.value as FlameWeight)}
        >
          {offered.map((one) => (
            <option key={one} value={one}>
              {one === 'auto' ? `Automatic: ${WEIGHT_WORDS[flame.weight].toLowerCase()}` : WEIGHT_WORDS[one]}
            </option>
          ))}
        </select>
      </label>
      <span class="inline">Colour</span>
      <Choice
        label="Colour"
        value={flameColour.value}
        options={COLOURS}
        onChange={(value) => (flameColour.value = value)}
      />
      {flameColour.value === 'kind' && (
        <span class="legend">
          {KIND_WORDS.map(([kind, label]) => (
            <span key={kind}>
              <Swatch kind={kind} /> {label}
            </span>
          ))}
        </span>
      )}
    </div>
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

/** Zooms to a frame and tells about it. */
export function pickFrame(flame: Flame, row: number): void {
  const name = flame.table.data.name[row];
  flameZoom.value = flame.tree.children[row].length > 0 ? row : flameZoom.value;
  if (typeof name === 'string') selection.value = { kind: 'frame', name };
}

function useColour(flame: Flame): (row: number) => string {
  const shade = theme.value;
  const by = flameColour.value;
  return useMemo(() => {
    if (by === 'kind') {
      const kinds = allRows(flame.table).map((row) => kindColour(frameKind(flame.table, row), shade));
      return (row: number) => kinds[row];
    }
    const totals = weights(flame.table, 'device', 'total');
    const whole = Math.max(...flame.tree.roots.map((row) => totals[row]), 1);
    const cold = word(kindColour('other', shade));
    const hot = word(kindColour('communication', shade));
    return (row: number) => hexOf(blend(cold, hot, Math.min(1, totals[row] / whole)));
  }, [flame, by, shade]);
}

function hexOf(pixel: number): string {
  const part = (shift: number) => ((pixel >> shift) & 0xff).toString(16).padStart(2, '0');
  return `#${part(0)}${part(8)}${part(16)}`;
}

function Picture({ flame, zoom }: { flame: Flame; zoom: number | null }): JSX.Element {
  const { table, tree, values, names, weight, whole } = flame;
  const query = flameQuery.value;
  const full = useMemo(() => texts(table, 'name'), [table]);
  const pale = useMemo(() => {
    if (query.trim() === '') return null;
    const passes = wordFilter(query);
    return (row: number) => !passes(full[row]);
  }, [full, query]);
  const colour = useColour(flame);
  const what = selection.value;
  const chosen = what?.kind === 'frame' ? chosenRow(flame, what.name, zoom) : null;
  const own = useMemo(() => weights(table, weight, 'self'), [table, weight]);
  return (
    <div class="flame-picture" data-rows={table.rows} data-pale={pale ? allRows(table).filter(pale).length : 0}>
      <Icicle
        testId="flame-canvas"
        label={`Call stacks by ${WEIGHT_WORDS[weight].toLowerCase()}: arrows move, Enter zooms, Backspace goes back`}
        tree={tree}
        values={values}
        names={names}
        colour={colour}
        shaded={flameColour.value === 'kind'}
        pale={pale}
        zoom={zoom}
        chosen={chosen}
        onPick={(row) => pickFrame(flame, row)}
        onBack={() => {
          if (zoom !== null) flameZoom.value = tree.parent[zoom] >= 0 ? tree.parent[zoom] : null;
        }}
        tooltip={(row) => (
          <>
            <b>{full[row] || names[row]}</b>
            <span>
              {WEIGHT_WORDS[weight]} {weightExact(weight, values[row])}, {percent((100 * values[row]) / (whole || 1))}
            </span>
            <span class="muted">own {weightExact(weight, own[row])}</span>
          </>
        )}
      />
    </div>
  );
}

/** Of the frames of a name, the one that is zoomed to, else the first. */
function chosenRow(flame: Flame, name: string, zoom: number | null): number | null {
  const names = flame.table.data.name;
  if (zoom !== null && names[zoom] === name) return zoom;
  const first = names.indexOf(name);
  return first < 0 ? null : first;
}

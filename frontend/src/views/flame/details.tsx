import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, MISSING, percent, plural } from '../../lib/format';
import { type Answer, flameOfAnswer, zoomOf } from '../../model/stack_zoom';
import {
  ALL_WEIGHTS,
  chosenRow,
  editorLink,
  eventAt,
  type Flame,
  flameShown,
  frameKind,
  frameLabel,
  placeSums,
  type Sums,
  stacksQuestion,
  sumsOfFrame,
  WEIGHT_WORDS,
  type Weight,
  weightExact,
  weightText,
  wholes,
} from '../../model/stacks';
import {
  filter,
  filterWords,
  flameForm,
  flameQuery,
  flameThread,
  flameWeight,
  flameZoom,
  type Selection,
} from '../../model/state';
import { texts } from '../../model/tables';
import { above, treeOf } from '../../model/tree';
import type { Table } from '../../model/wire';
import { Block, Fact } from '../drawer/event';
import { Busy, CopyButton, ProblemBox, Swatch } from '../parts/bits';
import { ShowPlace } from './show';
import { useStacks } from './use_stacks';
import { WithoutStack } from './without';

type Selected = Extract<Selection, { kind: 'frame' }>;

/** A frame of the program: where it was picked, and wherever else it was called from. */
export function FrameDetails({ selected }: { selected: Selected }): JSX.Element {
  const { name } = selected;
  const place = usePlace(selected);
  if (name === null) return <WithoutStack flame={flameShown.value} />;
  return (
    <div class="details" data-testid="frame-details">
      <header class="details-title">
        <Swatch kind={place ? frameKind(place.flame.table, place.row) : 'python'} />
        <h2 title={name}>{name}</h2>
        <CopyButton text={name} label="Copy name" />
        <ShowPlace name={shownName(place, name)} event={place && eventAt(place.flame.table, place.row)} />
        <button type="button" class="quiet" onClick={() => (flameQuery.value = name)}>
          Find in the picture
        </button>
      </header>
      <div class="details-columns frame-columns">
        {place && <Here place={place} />}
        {!(place && isFile(place)) && <Everywhere name={name} alone={place === null} />}
      </div>
    </div>
  );
}

interface Place {
  flame: Flame;
  row: number;
}

/** Where a frame was picked, in what is drawn; else in an answer of its own. */
function usePlace(selected: Selected): Place | null {
  const drawn = flameShown.value;
  const at = drawn && selected.node !== undefined ? chosenRow(drawn.table, selected) : null;
  const asks = selected.node !== undefined && drawn !== null && at === null;
  const asked = { ...stacksQuestion(), form: flameForm.value, weight: flameWeight.value, min_share_pct: 100 };
  const { answer } = useStacks(asks ? { ...asked, root: selected.node } : null);
  return useMemo(
    () => (drawn && at !== null ? { flame: drawn, row: at } : answer && placeIn(answer, selected)),
    [drawn, at, answer, selected],
  );
}

function placeIn(answer: Answer, selected: Selected): Place | null {
  const flame = flameOfAnswer(answer, null);
  const row = chosenRow(flame.table, selected);
  return row === null ? null : { flame, row };
}

function isFile({ flame, row }: Place): boolean {
  return flameForm.value === 'file' && flame.tree.parent[row] < 0;
}

/** Turned around, the time is that of the frame at the top. */
function shownName(place: Place | null, name: string): string {
  if (!place || flameForm.value !== 'inverted') return name;
  const [top] = [...above(place.flame.tree, place.row), place.row];
  return texts(place.flame.table, 'name')[top];
}

/** A weight with all that is called, and its own part of it, as shares of all of that weight. */
function SumFacts(props: { sums: Sums; whole: Record<Weight, number>; own?: boolean }): JSX.Element {
  const { sums, whole, own = true } = props;
  const fact = (weight: Weight, part: 'self' | 'total') => {
    const value = sums[part][weight];
    const share = whole[weight] > 0 ? `, ${percent((100 * value) / whole[weight])}` : '';
    return (
      <Fact
        key={weight + part}
        name={part === 'total' ? WEIGHT_WORDS[weight] : '· its own'}
        value={`${weightText(weight, value)}${share}`}
        hover={`${weightExact(weight, value)} of ${weightExact(weight, whole[weight])}`}
      />
    );
  };
  const known = ALL_WEIGHTS.filter((weight) => whole[weight] > 0);
  return (
    <dl class="facts">
      {known.flatMap((weight) => (own ? [fact(weight, 'total'), fact(weight, 'self')] : [fact(weight, 'total')]))}
    </dl>
  );
}

/** What the figures are narrowed to, in words. */
const narrowed = () =>
  [filter.value && filterWords(filter.value), flameThread.value !== null && 'on one thread'].filter(Boolean).join(' ');

/** Figures of the place that was clicked, and the way to it. */
function Here({ place: { flame, row } }: { place: Place }): JSX.Element {
  const form = flameForm.value;
  const sums = useMemo(() => placeSums(flame, row, form), [flame, row, form]);
  const whole = useMemo(() => wholes(flame.table), [flame]);
  return (
    <>
      <Block title={`Here ${narrowed()}`.trim()} scrolls>
        <div data-testid="frame-here">
          {/* Turned around, what is below calls what is at the top: the time is of that. */}
          <SumFacts sums={sums} whole={whole} own={form !== 'inverted' || flame.tree.parent[row] < 0} />
        </div>
      </Block>
      <Path flame={flame} row={row} />
    </>
  );
}

const PATH_WORDS = { top_down: 'Called by', inverted: 'It calls', file: 'In the file' };
const LISTED = 8;

/** What leads to a place, the nearest first: a click zooms to it. */
function Path({ flame, row }: { flame: Flame; row: number }): JSX.Element | null {
  const path = above(flame.tree, row).reverse();
  if (path.length === 0) return null;
  const full = texts(flame.table, 'name');
  return (
    <Block title={PATH_WORDS[flameForm.value]} scrolls>
      <ol class="callers" data-testid="frame-path">
        {path.map((one) => (
          <li key={one}>
            <button
              type="button"
              class="quiet"
              title={full[one]}
              onClick={() => (flameZoom.value = zoomOf(flame, one))}
            >
              {flame.names[one]}
            </button>
          </li>
        ))}
      </ol>
    </Block>
  );
}

/** Words that find all frames of a name, and a few others. */
function wordsOf(name: string): string {
  return name
    .split(/\s+/)
    .filter((word) => !word.startsWith('-'))
    .join(' ');
}

/** Figures over all stacks: none of a frame's places is too small to be asked for by its name. */
function Everywhere({ name, alone }: { name: string; alone: boolean }): JSX.Element {
  const asked = { ...stacksQuestion(), form: 'top_down', weight: flameWeight.value, min_share_pct: 100 };
  const { answer, problem } = useStacks({ ...asked, find: wordsOf(name) });
  if (problem) return <ProblemBox problem={problem} />;
  if (!answer) return <Busy what="Reading the frame…" />;
  return <Figures table={answer.table} name={name} alone={alone} />;
}

function Figures({ table, name, alone }: { table: Table; name: string; alone: boolean }): JSX.Element {
  const tree = useMemo(() => treeOf(table), [table]);
  const sums = useMemo(() => sumsOfFrame({ table, tree }, name), [table, tree, name]);
  const whole = useMemo(() => wholes(table), [table]);
  const { file, line, rows } = sums;
  return (
    <>
      <Block title={`Over all stacks ${narrowed()}`.trim()} scrolls>
        <div data-testid="frame-everywhere" data-places={rows.length}>
          {rows.length === 0 && <p class="hint">It has no part of any weight{narrowed() && ` ${narrowed()}`}.</p>}
          {rows.length === 1 && !alone && <p class="hint">It is in this place only.</p>}
          {rows.length > (alone ? 0 : 1) && <SumFacts sums={sums} whole={whole} />}
        </div>
      </Block>
      {file !== null && line !== null && <Source file={file} line={line} />}
      {(alone || rows.length > 1) && <Callers table={table} rows={rows} />}
    </>
  );
}

/** Where it is written: text to copy, and a link that only a click follows. */
function Source({ file, line }: { file: string; line: number }): JSX.Element {
  const text = `${file}:${line}`;
  const link = editorLink(file, line);
  return (
    <Block title="Source">
      <p class="mono wrap-anywhere" data-testid="frame-place">
        {text}
      </p>
      <p>
        <CopyButton text={text} label="Copy file and line" />{' '}
        {link && (
          <a href={link} rel="noreferrer">
            Open in VS Code
          </a>
        )}
      </p>
    </Block>
  );
}

/** Who calls it, anywhere. */
function Callers({ table, rows }: { table: Table; rows: number[] }): JSX.Element | null {
  const tree = useMemo(() => treeOf(table), [table]);
  if (rows.length === 0) return null;
  const names = texts(table, 'name');
  const callers = [...new Set(rows.map((row) => names[above(tree, row).pop() ?? -1] ?? MISSING))];
  const more: ComponentChildren = callers.length > LISTED && `and ${count(callers.length - LISTED)} more`;
  return (
    <Block title={`Called from ${plural(callers.length, 'frame')}, in ${plural(rows.length, 'place')}`} scrolls>
      <ul class="callers">
        {callers.slice(0, LISTED).map((name) => (
          <li key={name} class="name" title={name}>
            {frameLabel(name)}
          </li>
        ))}
        {more && <li class="muted">{more}</li>}
      </ul>
    </Block>
  );
}

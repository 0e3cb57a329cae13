import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { percent, plural } from '../../lib/format';
import { type Picture as PictureOf, sameZoom, zoomOf } from '../../model/stack_zoom';
import {
  type Flame,
  flameShown,
  hidesStackless,
  WEIGHT_WORDS,
  weightExact,
  weightText,
  withoutStackless,
} from '../../model/stacks';
import { type FlameZoom, flameStackless, flameZoom, selection } from '../../model/state';
import { numbers, sum } from '../../model/tables';
import { above } from '../../model/tree';
import { Busy, ProblemBox, Section } from '../parts/bits';
import { TableNotes } from '../parts/notes';
import { WithinChoice } from '../parts/within';
import { Controls, Tools } from './controls';
import { Found } from './found';
import { Picture } from './picture';
import { FrameTable } from './table';
import { type Shown, useShown } from './use_stacks';

export function FlamePage(): JSX.Element {
  const shown = useShown();
  const { picture, problem } = shown;
  const flame = picture?.flame ?? null;
  // The drawer tells about frames of what is drawn.
  useEffect(() => {
    flameShown.value = flame;
  }, [flame]);
  useEffect(
    () => () => {
      flameShown.value = null;
    },
    [],
  );
  return (
    <div class="page fixed" data-testid="page-flame">
      <h1 class="offscreen">Flame</h1>
      {problem && <ProblemBox problem={problem} />}
      {!picture && !problem && <Busy what="Adding up the stacks…" />}
      {picture && <Body shown={shown} picture={picture} />}
    </div>
  );
}

function Body({ shown, picture }: { shown: Shown; picture: PictureOf }): JSX.Element {
  const { flame } = picture;
  const { table, weight, whole } = flame;
  const [listed, setListed] = useState(false);
  const hides = hidesStackless(flame, flameStackless.value);
  const drawn = useMemo(() => (hides ? withoutStackless(flame) : flame), [flame, hides]);
  const frames = sum(numbers(table, 'nodes'));
  const notes = [...new Set([...(shown.whole?.table.notes ?? []), ...table.notes])];
  return (
    <>
      <div class="headline">
        <p class="verdict">
          <b title={weightExact(weight, whole)}>{weightText(weight, whole)}</b> of {WEIGHT_WORDS[weight].toLowerCase()}
          {askedWords(flame)}
          {/* Turned around, a frame is there once for each way to it. */}
          {flame.asked?.form !== 'inverted' && `, in ${plural(frames, 'frame')}`}.
        </p>
        <WithinChoice />
      </div>
      <TableNotes notes={notes} />
      {hides && <Hidden flame={flame} />}
      <Section title="Call stacks" class="grow" aside={<Tools flame={drawn} listed={listed} setListed={setListed} />}>
        <Controls flame={flame} />
        <Waiting busy={shown.busy} />
        <Found whole={shown.whole} query={shown.query} />
        {whole === 0 && <Empty flame={flame} />}
        {whole > 0 && <Crumbs picture={picture} />}
        {whole > 0 &&
          (listed ? (
            <FrameTable flame={drawn} zoom={picture.row} />
          ) : (
            <Picture flame={drawn} zoom={picture.row} refined={!shown.busy} current={shown.current} />
          ))}
      </Section>
    </>
  );
}

/** What the stacks are narrowed to: as they were asked for, while others are on their way. */
function askedWords({ asked = {} }: Flame): string {
  const { step, start_us, thread } = asked;
  const time = step !== undefined ? ` in step ${step}` : start_us !== undefined ? ' in the chosen time' : '';
  return `${time}${thread ? ' on one thread' : ''}`;
}

const PATIENCE_MS = 1000;

/** Says that something is on its way once it takes long. */
function Waiting({ busy }: { busy: boolean }): JSX.Element | null {
  const [late, setLate] = useState(false);
  useEffect(() => {
    setLate(false);
    if (!busy) return;
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [busy]);
  if (!busy || !late) return null;
  return (
    <div class="progress flame-progress" role="progressbar" aria-label="Adding up the stacks">
      <div class="progress-bar endless" />
    </div>
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
      </button>{' '}
      <button type="button" class="quiet" onClick={() => (selection.value = { kind: 'frame', name: null })}>
        Why?
      </button>
    </p>
  );
}

function Empty({ flame }: { flame: Flame }): JSX.Element {
  return (
    <p class="grid-empty" data-testid="flame-empty">
      No {WEIGHT_WORDS[flame.weight].toLowerCase()} in any stack{flame.asked?.thread && ' of this thread'}.
      {flame.weight === 'allocated' && !flame.asked?.thread && (
        <>
          {' '}
          Allocations are recorded with <code>profile_memory=True</code>.
        </>
      )}
    </p>
  );
}

/** The way to what is zoomed to. */
function Crumbs({ picture: { flame, row: zoom, zoom: now } }: { picture: PictureOf }): JSX.Element | null {
  if (zoom === null) return null;
  const path = above(flame.tree, zoom);
  const shown = path.slice(-3);
  const button = (to: FlameZoom | null, label: string) => (
    <button type="button" class="quiet crumb" title={label} onClick={() => (flameZoom.value = to)}>
      {label}
    </button>
  );
  const under = now !== null && sameZoom(now, flame.group?.zoom ?? null) ? now.under : null;
  return (
    <nav class="crumbs" aria-label="Zoomed to" data-testid="crumbs">
      {button(null, 'All')}
      {path.length > shown.length && <span class="muted">› …</span>}
      {shown.map((row) => (
        <span key={row} class="crumb-step">
          <span class="muted">›</span>
          {button(zoomOf(flame, row), flame.names[row])}
        </span>
      ))}
      <span class="muted">›</span>
      <b class="crumb" title={flame.names[zoom]}>
        {under === null ? flame.names[zoom] : `what is less than ${percent(under)} of ${path.length ? 'it' : 'all'}`}
      </b>
      <Share flame={flame} row={zoom} />
    </nav>
  );
}

function Share({ flame, row }: { flame: Flame; row: number }): JSX.Element {
  const { values, whole, weight } = flame;
  return (
    <span class="muted" data-testid="crumb-share" title={weightExact(weight, values[row])}>
      {weightText(weight, values[row])}, {percent((100 * values[row]) / (whole || 1))} of all
    </span>
  );
}

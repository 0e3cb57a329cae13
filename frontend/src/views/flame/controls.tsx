import type { JSX } from 'preact';
import { percent } from '../../lib/format';
import { useThreads } from '../../model/stack_threads';
import { type Flame, forgetPlaces, hidesStackless, KIND_WORDS, WEIGHT_WORDS, weightExact } from '../../model/stacks';
import {
  FLAME_WEIGHTS,
  type FlameColour,
  type FlameForm,
  type FlameFrames,
  type FlameWeight,
  flameColour,
  flameForm,
  flameFrames,
  flameLeast,
  flameStackless,
  flameThread,
  flameWeight,
  go,
} from '../../model/state';
import { allRows } from '../../model/tables';
import { Choice, Swatch } from '../parts/bits';
import { Export } from '../parts/export';
import { FRAME_TABLE, frameColumns } from './table';

interface ToolsProps {
  flame: Flame;
  listed: boolean;
  setListed: (on: boolean) => void;
}

export function Tools({ flame, listed, setListed }: ToolsProps): JSX.Element {
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
      <Export
        table={flame.table}
        order={allRows(flame.table)}
        name={`stacks-${flameForm.value}`}
        grid={listed ? FRAME_TABLE : undefined}
        columns={frameColumns(flame)}
      />
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

/** Hides what has no stack, or shows it, and says how much it is. */
function Stackless({ flame }: { flame: Flame }): JSX.Element | null {
  const { stackless, values, whole, weight } = flame;
  if (stackless === null || values[stackless] >= whole) return null;
  const hides = hidesStackless(flame, flameStackless.value);
  const value = values[stackless];
  return (
    <button
      type="button"
      class="quiet"
      data-testid="flame-stackless"
      aria-pressed={hides}
      title={`${weightExact(weight, value)} of ${WEIGHT_WORDS[weight].toLowerCase()}`}
      onClick={() => (flameStackless.value = hides ? 'shown' : 'hidden')}
    >
      <span class="swatch hatched stackless" /> Hide what has no stack: {percent((100 * value) / whole)}
    </button>
  );
}

/** Which host thread's stacks; nothing to ask where there is one. */
function Threads({ choose }: { choose: (title: string | null) => void }): JSX.Element | null {
  const titles = useThreads();
  const now = flameThread.value;
  const all = now === null || titles.includes(now) ? titles : [...titles, now];
  if (all.length < 2 && now === null) return null;
  const short = all.map((title) => title.replace(/ \(\S+\/-?\d+\)$/, ''));
  const labels = new Set(short).size < all.length ? all : short;
  return (
    <label class="inline">
      Thread{' '}
      <select
        class="flame-thread"
        data-testid="flame-thread"
        value={now ?? ''}
        title={now ?? 'All host threads, and what they launched'}
        onChange={(event) => choose(event.currentTarget.value || null)}
      >
        <option value="">All threads</option>
        {all.map((title, i) => (
          <option key={title} value={title}>
            {labels[i]}
          </option>
        ))}
      </select>
    </label>
  );
}

const LEAST = [1, 0.5, 0.1, 0.01];

/** From which share on a frame has a block of its own. */
function Least(): JSX.Element {
  const now = flameLeast.value;
  const offered = LEAST.includes(now) ? LEAST : [...LEAST, now].sort((a, b) => b - a);
  return (
    <label class="inline" title="Frames with less than this share of what is shown are added up">
      Least share{' '}
      <select
        data-testid="flame-least"
        value={String(now)}
        onChange={(event) => (flameLeast.value = Number(event.currentTarget.value))}
      >
        {offered.map((share) => (
          <option key={share} value={String(share)}>
            {share} %
          </option>
        ))}
      </select>
    </label>
  );
}

export function Controls({ flame }: { flame: Flame }): JSX.Element {
  const set =
    <T,>(atom: { value: T }) =>
    (value: T) => {
      atom.value = value;
      forgetPlaces();
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
      <Threads choose={set(flameThread)} />
      <Least />
      <span class="row">
        <span class="inline">Colour</span>
        <Choice
          label="Colour"
          value={flameColour.value}
          options={COLOURS}
          onChange={(value) => (flameColour.value = value)}
        />
      </span>
      {flameColour.value === 'kind' && (
        <span class="legend">
          {KIND_WORDS.map(([kind, label]) => (
            <span key={kind}>
              <Swatch kind={kind} /> {label}
            </span>
          ))}
        </span>
      )}
      <Stackless flame={flame} />
    </div>
  );
}

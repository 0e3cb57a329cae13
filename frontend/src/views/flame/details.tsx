import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { MISSING, plural } from '../../lib/format';
import { useTable } from '../../model/remote';
import {
  editorLink,
  frameLabel,
  knownWeights,
  sumsOfFrame,
  WEIGHT_WORDS,
  type Weight,
  weightExact,
  weightText,
} from '../../model/stacks';
import {
  filter,
  filterWords,
  findEvents,
  flameFrames,
  flameQuery,
  flameWeight,
  go,
  selectionParameters,
} from '../../model/state';
import { texts } from '../../model/tables';
import { above, treeOf } from '../../model/tree';
import type { Table } from '../../model/wire';
import { Block, Fact } from '../drawer/event';
import { Busy, CopyButton, ProblemBox, Swatch } from '../parts/bits';

/** A frame of the program, wherever it was called from. */
export function FrameDetails({ name }: { name: string }): JSX.Element {
  const asked = { form: 'top_down', weight: flameWeight.value, frames: flameFrames.value };
  const { data, problem } = useTable('stacks', { ...asked, ...selectionParameters(filter.value) });
  return (
    <div class="details" data-testid="frame-details">
      <header class="details-title">
        <Swatch kind="python" />
        <h2 title={name}>{name}</h2>
        <CopyButton text={name} label="Copy name" />
        <Links name={name} />
      </header>
      {problem && <ProblemBox problem={problem} />}
      {!data && !problem && <Busy what="Reading the frame…" />}
      {data && <Figures table={data} name={name} />}
    </div>
  );
}

function Links({ name }: { name: string }): JSX.Element | null {
  if (name === '(smaller)') return null;
  const find = () => {
    findEvents(`"${name}"`);
    go('timeline');
  };
  return (
    <>
      <button type="button" class="quiet" onClick={find}>
        Show in timeline
      </button>
      <button type="button" class="quiet" onClick={() => (flameQuery.value = name)}>
        Find in the picture
      </button>
    </>
  );
}

function Figures({ table, name }: { table: Table; name: string }): JSX.Element {
  const tree = useMemo(() => treeOf(table), [table]);
  const sums = useMemo(() => sumsOfFrame({ table, tree }, name), [table, tree, name]);
  const { file, line } = sums;
  const row = (weight: Weight, part: 'self' | 'total') => (
    <Fact
      key={weight + part}
      name={part === 'total' ? WEIGHT_WORDS[weight] : '· its own'}
      value={weightText(weight, sums[part][weight])}
      hover={weightExact(weight, sums[part][weight])}
    />
  );
  return (
    <div class="details-columns">
      <Block title={`Figures, over all stacks${filter.value ? ` ${filterWords(filter.value)}` : ''}`} scrolls>
        {sums.rows.length === 0 ? (
          <p class="hint">
            It has no part of this weight{filter.value && ` ${filterWords(filter.value)}`}, or too small a one for a
            row.
          </p>
        ) : (
          <dl class="facts">{knownWeights(table).flatMap((weight) => [row(weight, 'total'), row(weight, 'self')])}</dl>
        )}
      </Block>
      {file !== null && line !== null && <Place file={file} line={line} />}
      <Callers table={table} rows={sums.rows} />
    </div>
  );
}

/** Where it is written: text to copy, and a link that only a click follows. */
function Place({ file, line }: { file: string; line: number }): JSX.Element {
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

const LISTED = 8;

function Callers({ table, rows }: { table: Table; rows: number[] }): JSX.Element | null {
  const tree = useMemo(() => treeOf(table), [table]);
  if (rows.length === 0) return null;
  const names = texts(table, 'name');
  const callers = [...new Set(rows.map((row) => above(tree, row).pop() ?? -1))];
  return (
    <Block title={`Called from ${plural(new Set(callers.map((row) => names[row])).size, 'place')}`}>
      <ul class="callers">
        {[...new Set(callers.map((row) => names[row] ?? MISSING))].slice(0, LISTED).map((name) => (
          <li key={name} class="name" title={name}>
            {frameLabel(name)}
          </li>
        ))}
      </ul>
    </Block>
  );
}

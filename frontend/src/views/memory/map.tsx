import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, duration, exactBytes, exactTime, instant, memorySize } from '../../lib/format';
import { RANKS, rankColour } from '../../lib/memory_colours';
import { tame } from '../../lib/names';
import { type BlockBox, type BlockMap, boxAt, layByAddress, packBySize } from '../../model/block_map';
import {
  type Blocks,
  blockKey,
  type DeviceMemory,
  findBlock,
  groupsOf,
  rangeParameters,
  readBlocks,
} from '../../model/memory';
import { useTable } from '../../model/remote';
import { MEMORY_LAYOUTS, memoryAt, memoryBy, memoryLayout, type Range, selection } from '../../model/state';
import { column, texts } from '../../model/tables';
import type { Cell } from '../../model/wire';
import type { Ink } from '../../timeline/pen';
import { Busy, Choice, ProblemBox, Section } from '../parts/bits';
import { BySelect, fixedColour, groupLabel } from './keys';
import { drawAxes, type Plot } from './plot';
import { type Spot, Stage } from './stage';
import { PartNotes } from './totals';
import { NoBlocks } from './words';

/** More are thinner than a pixel. */
const MOST = 2000;
/** A block of no length can be hit this far beside it, px. */
const REACH_PX = 3;

interface MapProps {
  device: DeviceMemory;
  range: Range;
  addressed: boolean;
}

/** Every block of the window as a box: how long it lived, and how large it was. */
export function MapPart({ device, range, addressed }: MapProps): JSX.Element {
  const asked = addressed ? { device: device.device, ...rangeParameters(range), largest: MOST } : null;
  const { data, problem } = useTable('allocations', asked);
  if (!addressed) return <NoBlocks />;
  if (problem) return <ProblemBox problem={problem} />;
  if (!data) return <Busy what="Reading the blocks…" />;
  return (
    <>
      <PartNotes tables={[data]} />
      <Section
        title={`${count(data.rows)} blocks`}
        class="memory-panel"
        aside={
          <>
            <BySelect label="Colour by" />
            <Choice
              label="Order of blocks"
              value={memoryLayout.value}
              options={MEMORY_LAYOUTS.map((value) => ({ value, ...LAYOUTS[value] }))}
              onChange={(value) => (memoryLayout.value = value)}
            />
          </>
        }
      >
        {data.rows === 0 ? (
          <p class="hint">No block was live in this time.</p>
        ) : (
          <Drawn blocks={readBlocks(data)} range={range} />
        )}
      </Section>
    </>
  );
}

const LAYOUTS = {
  size: { label: 'By size', help: 'The largest at the bottom, each as low as it fits' },
  address: { label: 'By address', help: 'Where they lie in memory; addresses that no block shown uses are left out' },
};

function Drawn({ blocks, range }: { blocks: Blocks; range: Range }): JSX.Element {
  const { table } = blocks;
  const layout = memoryLayout.value;
  const by = memoryBy.value;
  const map = useMemo(
    () => (layout === 'address' ? layByAddress(blocks, range) : packBySize(blocks, range)),
    [table, layout, range.t0, range.t1],
  );
  const groups = useMemo(() => groupsOf(blocks, by), [table, by]);
  const colours = useMemo(() => coloursOf(blocks, by, groups), [table, by, groups]);
  const chosen = selection.value?.kind === 'block' ? findBlock(blocks, selection.value.block) : -1;
  const draw = useMemo(
    () => (pen: CanvasRenderingContext2D, plot: Plot, ink: Ink) => {
      drawAxes(pen, plot, ink);
      drawBoxes(pen, plot, ink, { map, colours, chosen });
    },
    [map, colours, chosen],
  );
  const hit = ({ x, y, plot }: Spot) => {
    const reach = REACH_PX * (plot.timeOf(plot.left + 1) - plot.range.t0);
    return boxAt(map, plot.timeOf(x), plot.bytesOf(y), reach);
  };
  return (
    <>
      <Stage
        testId="memory-map"
        class="memory-map"
        label={`${count(blocks.rows)} blocks by time and ${layout}; the table of live blocks tells the same`}
        range={range}
        most={map.height * 1.02}
        at={memoryAt.value}
        draw={draw}
        onPick={(spot) => {
          const box = hit(spot);
          selection.value = box ? { kind: 'block', block: blockKey(blocks, box.row) } : null;
        }}
        tell={(spot) => {
          const box = hit(spot);
          return box && <Told blocks={blocks} row={box.row} />;
        }}
      />
      <ul class="memory-legend">
        {groups.slice(0, RANKS).map(({ value, bytes }, i) => (
          <li key={String(value)} title={`${String(value ?? '')}\n${exactBytes(bytes)} in all`}>
            <span class="swatch" style={{ background: colourOf(by, value, i) }} />{' '}
            <span class="legend-text">{groupLabel(by, value)}</span>
          </li>
        ))}
        {groups.length > RANKS && <li class="muted">{count(groups.length - RANKS)} more in grey</li>}
      </ul>
    </>
  );
}

function colourOf(by: string, value: Cell, rank: number): string {
  return fixedColour(by, value) ?? rankColour(value === null ? RANKS : rank);
}

function coloursOf(blocks: Blocks, by: string, groups: { value: Cell }[]): string[] {
  const rank = new Map(groups.map(({ value }, i) => [value, i]));
  return column(blocks.table, by).map((value) => colourOf(by, value, rank.get(value) ?? RANKS));
}

interface Picture {
  map: BlockMap;
  colours: string[];
  chosen: number;
}

function drawBoxes(pen: CanvasRenderingContext2D, plot: Plot, ink: Ink, { map, colours, chosen }: Picture): void {
  for (const box of map.boxes) {
    const [x, y, width, height] = placeOf(plot, box);
    pen.fillStyle = colours[box.row];
    // A line of paper tells neighbours apart where there is room for it.
    const gap = height > 3 ? 1 : 0;
    pen.fillRect(x, y, Math.max(0.7, width - (width > 3 ? 1 : 0)), Math.max(0.5, height - gap));
  }
  const marked = map.boxes.find((box) => box.row === chosen);
  if (!marked) return;
  const [x, y, width, height] = placeOf(plot, marked);
  pen.strokeStyle = ink.text;
  pen.lineWidth = 2;
  pen.strokeRect(x - 1, y - 1, width + 1, height + 1);
}

function placeOf(plot: Plot, { t0, t1, low, high }: BlockBox): [number, number, number, number] {
  const x = Math.max(plot.left, plot.x(t0));
  const y = plot.y(high);
  return [x, y, Math.min(plot.right, plot.x(t1)) - x, plot.y(low) - y];
}

function Told({ blocks, row }: { blocks: Blocks; row: number }): JSX.Element {
  const { table } = blocks;
  const from = blocks.from[row];
  const to = blocks.to[row];
  const life = from !== null && to !== null ? to - from : null;
  const lines = [texts(table, 'caller')[row], groupLabel('module', column(table, 'module')[row])];
  const source = column(table, 'source')[row];
  return (
    <>
      <p class="tip-line">
        <b title={exactBytes(blocks.bytes[row])}>{memorySize(blocks.bytes[row])}</b>
        <span class="muted">{exactBytes(blocks.bytes[row])}</span>
      </p>
      <p>{tame(lines[0]) || 'Operator not known'}</p>
      <p class="muted">{lines[1]}</p>
      {source !== null && <p class="muted">{groupLabel('source', source)}</p>}
      <p class="muted" title={exactTime(life)}>
        {from === null ? 'from before the recording' : `from ${instant(from, 1e3)}`}
        {life === null ? `, ${blocks.state[row]}` : `, for ${duration(life)}`}
      </p>
    </>
  );
}

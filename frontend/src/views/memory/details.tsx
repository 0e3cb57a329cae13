import type { JSX } from 'preact';
import { duration, exactBytes, exactTime, instant, MISSING, memorySize } from '../../lib/format';
import { categoryColour } from '../../lib/memory_colours';
import { tame } from '../../lib/names';
import { type BlockKey, type Blocks, blockParameters, findBlock, KEY_WORDS, readBlocks } from '../../model/memory';
import { useEvent, useTable } from '../../model/remote';
import { MEMORY_KEYS, showInTimeline } from '../../model/state';
import { column, numbers } from '../../model/tables';
import type { EventDetail } from '../../model/wire';
import { Block, Fact } from '../drawer/event';
import { Busy, CopyButton, ProblemBox } from '../parts/bits';
import { groupLabel } from './keys';

/** Room around an allocation outside all operators, ns. */
const AROUND_NS = 50_000;

/** One block: how large, from when to when, and who asked for it. */
export function BlockDetails({ wanted }: { wanted: BlockKey }): JSX.Element {
  const { data, problem } = useTable('allocations', blockParameters(wanted));
  if (problem) return <ProblemBox problem={problem} />;
  const blocks = data && readBlocks(data);
  const row = blocks ? findBlock(blocks, wanted) : -1;
  if (blocks && row >= 0) return <Found blocks={blocks} row={row} />;
  if (!blocks) return <Busy what="Reading the block…" />;
  return <p class="hint">There is no such block in this trace.</p>;
}

const STATES: Record<string, string> = {
  open: 'not freed by the end of the recording',
  lost: 'its address was allocated again: the free was not recorded',
  'before recording': 'allocated before the recording',
  freed: 'freed',
};

function Found({ blocks, row }: { blocks: Blocks; row: number }): JSX.Element {
  const { table } = blocks;
  const size = blocks.bytes[row];
  const from = blocks.from[row];
  const to = blocks.to[row];
  const life = from !== null && to !== null ? to - from : null;
  const op = useEvent(numbers(table, 'op_id')[row]).data;
  const category = String(column(table, 'category')[row] ?? 'unknown');
  return (
    <div class="details" data-testid="block-details" data-bytes={size}>
      <header class="details-title">
        <span class="swatch" style={{ background: categoryColour(category) }} />
        <h2 title={exactBytes(size)}>
          {memorySize(size)} on {tame(String(column(table, 'device')[row] ?? ''))}
        </h2>
        {from !== null && (
          <button
            type="button"
            class="quiet"
            data-testid="block-to-timeline"
            onClick={() => showAllocation(from, numbers(table, 'id')[row], op)}
          >
            Show its allocation in the timeline
          </button>
        )}
      </header>
      <div class="details-columns">
        <Block title="Block">
          <dl class="facts">
            <Fact name="Size" value={exactBytes(size)} />
            <Fact name="Address" value={<code>{blocks.address[row]}</code>} />
            <Fact name="Allocated" value={from === null ? MISSING : instant(from, 1e3)} hover={exactTime(from)} />
            <Fact name="Freed" value={to === null ? MISSING : instant(to, 1e3)} hover={exactTime(to)} />
            <Fact name="Lifetime" value={duration(life)} hover={exactTime(life)} />
            <Fact name="State" value={STATES[blocks.state[row]] ?? blocks.state[row]} />
            <Fact name="Step" value={numbers(table, 'step')[row] ?? MISSING} />
          </dl>
        </Block>
        <Block title="Who asked for it">
          <dl class="facts">
            {MEMORY_KEYS.map((key) => {
              const value = column(table, key)[row];
              const text = value === null ? MISSING : groupLabel(key, value);
              return <Fact key={key} name={KEY_WORDS[key].title} value={text} hover={String(value ?? '')} />;
            })}
          </dl>
          {typeof column(table, 'source')[row] === 'string' && (
            <CopyButton text={String(column(table, 'source')[row])} label="Copy source line" />
          )}
        </Block>
      </div>
    </div>
  );
}

/** The timeline at the operator that asked; an instant has no bar of its own there. */
function showAllocation(from: number, id: number | null, op: EventDetail | null): void {
  if (op) showInTimeline(op.start_ns, op.duration_ns, { kind: 'event', id: op.id });
  else showInTimeline(from - AROUND_NS, 2 * AROUND_NS, id === null ? null : { kind: 'event', id }, 0);
}

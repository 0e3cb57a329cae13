import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { exactBytes, instant, memorySize, percent, plural } from '../../lib/format';
import { ALLOCATED } from '../../lib/memory_colours';
import { wordFilter } from '../../lib/names';
import {
  blockKey,
  type DeviceMemory,
  findBlock,
  inMicroseconds,
  KEY_WORDS,
  keyParameters,
  liveParameters,
  readBlocks,
} from '../../model/memory';
import { useTable } from '../../model/remote';
import { type Bar, memoryBy, memoryGroup, memoryQuery, selection } from '../../model/state';
import { allRows, column, describe, filterRows, numbers, sortRows, sum } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Busy, ProblemBox, Section, ShareBar } from '../parts/bits';
import { Export } from '../parts/export';
import { type Field, fieldColumns } from '../parts/fields';
import { Grid } from '../parts/grid';
import { fitting, type GridColumn } from '../parts/sheet';
import { ViewGrid } from '../parts/view_grid';
import { useInstant } from './instant';
import { BySelect, fixedColour, groupLabel, keyColumn } from './keys';
import { PartNotes } from './totals';
import { NoBlocks } from './words';

const WHEN = { picked: 'at', peak: 'at the peak,', filter: 'at the peak of the chosen time,' };

/** What is live at the chosen instant: by group, and block by block. */
export function Live({ device, addressed }: { device: DeviceMemory; addressed: boolean }): JSX.Element {
  const by = memoryBy.value;
  const { at, of } = useInstant(device);
  const asked = { by, device: device.device, ...(of === 'peak' ? {} : { at_us: inMicroseconds(at) }) };
  const { data, problem } = useTable('memory_peak', asked);
  if (problem) return <ProblemBox problem={problem} />;
  if (!data?.data[by]) return <Busy what="Looking for what is live…" />;
  const when = `${WHEN[of]} ${instant(at, 1e3)}`;
  const total = sum(numbers(data, 'bytes'));
  return (
    <>
      <PartNotes tables={[data]} />
      <p class="memory-words" data-testid="live-total" data-bytes={total}>
        <b title={exactBytes(total)}>{memorySize(total)}</b> live {when}
      </p>
      {addressed ? (
        <div class="idle-columns memory-live">
          <Groups table={data} />
          <LiveBlocks device={device} />
        </div>
      ) : (
        <NoBlocks />
      )}
    </>
  );
}

const MORE: Field[] = [
  { key: 'blocks', title: 'Blocks', as: 'count', width: '72px' },
  { key: 'largest_bytes', title: 'Largest', as: 'bytes' },
];

function Groups({ table }: { table: Table }): JSX.Element {
  const by = memoryBy.value;
  const [sort, setSort] = useState<Bar>({ column: 'bytes', descending: true });
  const values = column(table, by);
  const key = table.data[sort.column] ? sort.column : 'bytes';
  const columns = useMemo(
    () => [keyColumn(table, by), sizeColumn(table, by), ...fieldColumns(table, MORE)],
    [table, by],
  );
  const order = useMemo(() => {
    const passes = wordFilter(memoryQuery.value);
    const fits = allRows(table).filter((row) => passes(`${groupLabel(by, values[row])}\n${values[row] ?? ''}`));
    return sortRows(fits, column(table, key), sort.descending);
  }, [table, by, key, sort, memoryQuery.value]);
  const group = memoryGroup.value;
  const current = group === null ? null : values.indexOf(group.value);
  const toggle = (row: number) => {
    const value = values[row] === null ? null : String(values[row]);
    memoryGroup.value = current === row ? null : { value };
  };
  const total = sum(order.map((row) => numbers(table, 'bytes')[row]));
  return (
    <Section
      title="Live, by"
      class={fitting(order.length)}
      aside={
        <>
          <BySelect label="" />
          <Export table={table} order={order} name={`memory-live-by-${by}`} grid="memory-live" columns={columns} />
        </>
      }
    >
      <Grid
        label="What is live"
        name="memory-live"
        columns={columns}
        order={order}
        sort={{ column: key, descending: sort.descending }}
        onSort={setSort}
        onOpen={toggle}
        current={current}
        empty="Nothing is live then."
        rowAttributes={(row) => ({
          'data-testid': 'live-row',
          'data-key': values[row] === null ? null : String(values[row]),
          'data-bytes': numbers(table, 'bytes')[row],
        })}
        footer={(one) => (one.key === by ? 'Total' : one.key === 'bytes' ? memorySize(total) : '')}
      />
    </Section>
  );
}

/** Bytes with a bar of their share behind. */
function sizeColumn(table: Table, by: string): GridColumn {
  const bytes = numbers(table, 'bytes');
  const share = numbers(table, 'share_pct');
  const groups = column(table, by);
  return {
    key: 'bytes',
    title: 'Live',
    help: describe(table, 'bytes'),
    width: '132px',
    number: true,
    cell: (row) => (
      <ShareBar
        share={share[row] ?? 0}
        text={memorySize(bytes[row])}
        colour={fixedColour(by, groups[row]) ?? ALLOCATED}
      />
    ),
    hover: (row) => `${exactBytes(bytes[row])}, ${percent(share[row])}`,
  };
}

const BLOCK: Field[] = [
  { key: 'bytes', title: 'Size', as: 'bytes' },
  { key: 'caller', title: KEY_WORDS.caller.title, as: 'name', none: 'not known' },
  { key: 'from_us', title: 'Allocated', as: 'instant' },
  { key: 'lifetime_us', title: 'Lives for', as: 'time' },
  { key: 'module', title: 'Module', as: 'name' },
  { key: 'source', title: 'Source line', as: 'source' },
];

/** The blocks of a group, or all that are live. */
function LiveBlocks({ device }: { device: DeviceMemory }): JSX.Element {
  const by = memoryBy.value;
  const group = memoryGroup.value;
  const key = group === null ? {} : keyParameters(by, group.value);
  const { at } = useInstant(device);
  const { data, problem } = useTable('allocations', {
    device: device.device,
    ...liveParameters(at),
    ...key,
  });
  const order = useMemo(() => {
    if (!data) return [];
    const groups = column(data, by);
    // A group whose name does not fit into an address is picked out here.
    const rows = allRows(data).filter((row) => group === null || groups[row] === group.value);
    return filterRows(data, rows, ['op', 'caller', 'module', 'source', 'category'], wordFilter(memoryQuery.value));
  }, [data, by, group, memoryQuery.value]);
  if (problem) return <ProblemBox problem={problem} />;
  if (!data) return <Busy what="Reading the blocks…" />;
  const blocks = readBlocks(data);
  const chosen = selection.value?.kind === 'block' ? findBlock(blocks, selection.value.block) : null;
  const aside = (
    <>
      <span class="muted">{plural(order.length, 'block')}</span>
      {group !== null && (
        <button type="button" class="chip" data-testid="memory-group" onClick={() => (memoryGroup.value = null)}>
          <span class="chip-text">{groupLabel(by, group.value)}</span> <span aria-hidden="true">✕</span>
        </button>
      )}
      <Export table={data} order={order} name="memory-blocks" grid="memory-blocks" columns={BLOCK} />
    </>
  );
  return (
    <Section title="Blocks" class={fitting(order.length)} aside={aside}>
      <ViewGrid
        label="Blocks that are live"
        name="memory-blocks"
        table={data}
        fields={BLOCK}
        order={order}
        sort={{ column: 'bytes', descending: true }}
        testId="block-row"
        current={chosen}
        onOpen={(row) => (selection.value = { kind: 'block', block: blockKey(blocks, row) })}
        empty="No block is known of it: it was allocated before the recording, or never recorded."
      />
    </Section>
  );
}

import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { count, duration, exactTime, medianScale, percent, plural, scaled } from '../../lib/format';
import { keyOf, useRemote, useSource } from '../../model/remote';
import type { Subject } from '../../model/source';
import { type Bar, filter, findEvents, subject } from '../../model/state';
import { sortRows } from '../../model/tables';
import type { Area, AreaRow, Cell } from '../../model/wire';
import { Busy, Name, ProblemBox, ShareBar, Swatch } from '../parts/bits';
import { Grid } from '../parts/grid';
import type { GridColumn } from '../parts/sheet';

interface AreaWindow {
  rows: string;
  t0: number;
  t1: number;
}

/** What a selected area of the timeline holds, by name: the picture as a table. */
export function AreaDetails({ window }: { window: AreaWindow }): JSX.Element {
  const source = useSource();
  const of = subject.value;
  const { rows, t0, t1 } = window;
  const key = of === null ? null : keyOf(of, 'area', rows, t0, t1);
  const { data, problem } = useRemote(key, (signal) => source.area(of as Subject, { rows, t0, t1 }, signal));
  return (
    <div class="details">
      <header class="details-title">
        <h2>Selected {duration(t1 - t0)}</h2>
        {data && (
          <span class="muted">
            {plural(data.events, 'event')}, {duration(data.total_ns)} in all, cut at the edges
          </span>
        )}
        <button
          type="button"
          class="quiet"
          title="Narrows every page to this time"
          onClick={() => {
            filter.value = { t0, t1, step: null };
          }}
        >
          Use as time range
        </button>
      </header>
      {problem && <ProblemBox problem={problem} />}
      {!data && !problem && <Busy what="Adding up the area…" />}
      {data && <AreaTable area={data} />}
    </div>
  );
}

function AreaTable({ area }: { area: Area }): JSX.Element {
  const [sort, setSort] = useState<Bar>({ column: 'total_ns', descending: true });
  const order = useMemo(() => {
    const values = area.rows.map((row) => (row as unknown as Record<string, Cell>)[sort.column] ?? null);
    return sortRows(
      area.rows.map((_, i) => i),
      values,
      sort.descending,
    );
  }, [area, sort]);
  return (
    <Grid
      label="Events of the selected area by name"
      columns={areaColumns(area)}
      order={order}
      sort={sort}
      onSort={setSort}
      onOpen={(row) => {
        findEvents(`"${area.rows[row].name}"`);
      }}
      rowAttributes={() => ({ 'data-testid': 'area-row' })}
      empty="No event touches this area."
    />
  );
}

function areaColumns({ rows, total_ns }: Area): GridColumn[] {
  const total = medianScale(rows.map((row) => row.total_ns));
  const each = medianScale(rows.map((row) => row.mean_ns));
  const time = (key: 'total_ns' | 'mean_ns' | 'min_ns' | 'max_ns', title: string): GridColumn => {
    const scale = key === 'total_ns' ? total : each;
    return {
      key,
      title: `${title}, ${scale.unit}`,
      width: '92px',
      number: true,
      cell: (row) => scaled(rows[row][key], scale),
      hover: (row) => exactTime(rows[row][key]),
    };
  };
  const share = (row: AreaRow) => (100 * row.total_ns) / (total_ns || 1);
  return [
    {
      key: 'name',
      title: 'Name',
      width: 'auto',
      cell: (row) => (
        <>
          <Swatch kind={rows[row].kind} /> <Name name={rows[row].name} />
        </>
      ),
    },
    { key: 'kind', title: 'Kind', width: '124px', cell: (row) => rows[row].kind.replace('_', ' ') },
    { key: 'calls', title: 'Calls', width: '76px', number: true, cell: (row) => count(rows[row].calls) },
    time('total_ns', 'Total'),
    time('mean_ns', 'Mean'),
    time('min_ns', 'Min'),
    time('max_ns', 'Max'),
    {
      key: 'share',
      title: 'Share',
      help: 'Of the summed time of all events in the area; nested events count at each level',
      width: '104px',
      number: true,
      sortable: false,
      cell: (row) => <ShareBar share={share(rows[row])} text={percent(share(rows[row]))} />,
    },
  ];
}

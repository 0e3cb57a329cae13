import type { Signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { count, plural } from '../../lib/format';
import { keyColumns } from '../../model/kernels';
import { useTable } from '../../model/remote';
import { type Bar, filter, filterWords, selectionParameters } from '../../model/state';
import { column, sortRows } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Busy, ProblemBox, Section } from './bits';
import { Export } from './export';
import { Grid } from './grid';
import { GroupBy } from './group_by';
import { TableNotes } from './notes';
import { fitting, type GridColumn, type RowAttributes } from './sheet';
import { WithinChoice } from './within';

/** A page that is one table of a view: how it is grouped, searched and sorted, and what it says of each row. */
export interface TablePageProps {
  /** The view, and what the page is called by. */
  view: string;
  title: string;
  /** What a row is about, in a sentence: `kernel`. */
  noun: string;
  busy: string;
  by: Signal<string>;
  groupings: readonly string[];
  labels: Record<string, string>;
  query: Signal<string>;
  sort: Signal<Bar> | Signal<Bar | null>;
  /** The order where none that fits was chosen. */
  firstSort: (table: Table) => Bar;
  /** Rows that a search finds. */
  find: (table: Table, query: string) => number[];
  columns: (table: Table, order: number[]) => GridColumn[];
  headline: (props: { table: Table }) => JSX.Element;
  /** Sums over the rows shown, by the key of a column. */
  totals: (table: Table, order: number[]) => Record<string, ComponentChildren>;
  /** The row that the drawer tells about. */
  current: (table: Table, order: number[]) => number | null;
  open: (table: Table, row: number) => void;
  rowAttributes: (table: Table, row: number) => RowAttributes;
  children?: ComponentChildren;
}

export function TablePage(props: TablePageProps): JSX.Element {
  const { view, title, busy } = props;
  const remote = useTable(view, { by: props.by.value, ...selectionParameters(filter.value) });
  return (
    <div class="page fixed" data-testid={`page-${view}`}>
      <h1 class="offscreen">{title}</h1>
      {remote.problem && <ProblemBox problem={remote.problem} />}
      {!remote.data && !remote.problem && <Busy what={busy} />}
      {remote.data && <Body {...props} table={remote.data} />}
    </div>
  );
}

function Body(props: TablePageProps & { table: Table }): JSX.Element {
  const { table, view, noun, by, headline: Headline } = props;
  const order = useMemo(() => props.find(table, props.query.value), [table, props.query.value]);
  const asked = props.sort.value;
  const sort = asked && table.data[asked.column] ? asked : props.firstSort(table);
  const sorted = useMemo(
    () => sortRows(order, column(table, sort.column), sort.descending),
    [order, table, sort.column, sort.descending],
  );
  const columns = useMemo(() => props.columns(table, order), [table, order]);
  const sums: Record<string, ComponentChildren> = useMemo(() => {
    const all = order.length < table.rows ? 'Total of the rows shown' : 'Total';
    return { ...props.totals(table, order), [keyColumns(table)[0]]: all };
  }, [table, order]);
  const none = `No ${noun}${filter.value ? ` ${filterWords(filter.value)}` : ''}.`;
  return (
    <>
      <div class="headline">
        <Headline table={table} />
        <WithinChoice />
      </div>
      <TableNotes notes={table.notes} />
      <Section
        title={props.title}
        class={fitting(order.length)}
        aside={<Tools {...props} columns={columns} order={sorted} all={table.rows} />}
      >
        <Grid
          label={`${props.title} by ${props.labels[by.value].toLowerCase()}`}
          name={view}
          columns={columns}
          order={sorted}
          sort={sort}
          onSort={(next) => (props.sort.value = next)}
          onOpen={(row) => props.open(table, row)}
          current={props.current(table, order)}
          rowAttributes={(row) => props.rowAttributes(table, row)}
          footer={(one) => sums[one.key]}
          empty={table.rows === 0 ? none : `No ${noun} matches the filter.`}
        />
      </Section>
      {props.children}
    </>
  );
}

type ToolsProps = Omit<TablePageProps, 'columns'> & {
  table: Table;
  columns: GridColumn[];
  order: number[];
  all: number;
};

function Tools({ table, view, by, groupings, labels, columns, order, all }: ToolsProps): JSX.Element {
  return (
    <>
      <span class="muted">
        {order.length < all ? `${count(order.length)} of ${count(all)} rows` : plural(all, 'row')}
      </span>
      <GroupBy
        testId="group-by"
        value={by.value}
        tokens={groupings}
        labels={labels}
        onChange={(token) => (by.value = token)}
      />
      <Export
        table={table}
        order={order}
        name={`${view}-by-${by.value.replace(',', '-')}`}
        grid={view}
        columns={columns}
      />
    </>
  );
}

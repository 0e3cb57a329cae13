import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Bar } from '../../model/state';
import { allRows, column, sortRows } from '../../model/tables';
import type { Table } from '../../model/wire';
import { type Field, fieldColumns } from './fields';
import { Grid } from './grid';

/** Without stacks there are no source lines: their column would be empty. */
function tells(table: Table, field: Field): boolean {
  return field.as !== 'source' || column(table, field.key).some((value) => value !== null);
}

interface ViewGridProps {
  label: string;
  /** What the choice of columns is remembered by; without, there is none. */
  name?: string;
  table: Table;
  fields: Field[];
  /** Rows to show; all without. */
  order?: number[];
  sort: Bar;
  testId: string;
  onOpen?: (row: number) => void;
  current?: number | null;
  empty: string;
}

/** A view of the backend as a table to sort, with the columns that are asked for. */
export function ViewGrid(props: ViewGridProps): JSX.Element {
  const { table, fields } = props;
  const [sort, setSort] = useState(props.sort);
  const columns = useMemo(
    () =>
      fieldColumns(
        table,
        fields.filter((one) => tells(table, one)),
      ),
    [table, fields],
  );
  const by = table.data[sort.column] ? sort : props.sort;
  const sorted = useMemo(
    () => sortRows(props.order ?? allRows(table), column(table, by.column), by.descending),
    [table, props.order, by],
  );
  return (
    <Grid
      label={props.label}
      name={props.name}
      columns={columns}
      order={sorted}
      sort={by}
      onSort={setSort}
      onOpen={props.onOpen}
      current={props.current}
      empty={props.empty}
      rowAttributes={(row) => ({ 'data-testid': props.testId, 'data-row': row })}
    />
  );
}

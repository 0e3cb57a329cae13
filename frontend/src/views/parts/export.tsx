import type { JSX } from 'preact';
import { download } from '../../lib/browser';
import { type ColumnKey, hiddenOfView } from '../../model/columns';
import { dropColumns, toCsv, toJson } from '../../model/tables';
import type { Table } from '../../model/wire';

interface ExportProps {
  table: Table;
  order: number[];
  name: string;
  /** The table on the page, where columns of it can be hidden. */
  grid?: string;
  columns?: ColumnKey[];
}

const TYPES = {
  csv: { type: 'text/csv', print: toCsv },
  json: { type: 'application/json', print: toJson },
};

/** What the table shows, with the backend's column names and exact values. */
export function Export({ table, order, name, grid, columns = [] }: ExportProps): JSX.Element {
  const hidden = hiddenOfView(grid, columns);
  const told = `Downloads the rows that the table shows, with exact values${hidden.length > 0 ? '; columns that are hidden are left out' : ''}`;
  const save = (kind: 'csv' | 'json') => {
    const { type, print } = TYPES[kind];
    download(`${name}.${kind}`, type, print(dropColumns(table, hidden), order));
  };
  return (
    <>
      {(['csv', 'json'] as const).map((kind) => (
        <button
          key={kind}
          type="button"
          class="quiet"
          data-testid={`export-${kind}`}
          title={told}
          onClick={() => save(kind)}
        >
          {kind.toUpperCase()}
        </button>
      ))}
    </>
  );
}

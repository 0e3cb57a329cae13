import type { JSX } from 'preact';
import { download } from '../../lib/browser';
import { toCsv, toJson } from '../../model/tables';
import type { Table } from '../../model/wire';

/** The rows as shown, with the backend's column names and exact values. */
export function Export({ table, order, name }: { table: Table; order: number[]; name: string }): JSX.Element {
  return (
    <>
      <button
        type="button"
        class="quiet"
        data-testid="export-csv"
        onClick={() => download(`${name}.csv`, 'text/csv', toCsv(table, order))}
      >
        CSV
      </button>
      <button
        type="button"
        class="quiet"
        data-testid="export-json"
        onClick={() => download(`${name}.json`, 'application/json', toJson(table, order))}
      >
        JSON
      </button>
    </>
  );
}

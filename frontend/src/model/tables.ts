/** Pure shaping of the backend's columnar tables. */
import type { Cell, Table } from './wire';

export type Order = number[];

export function column(table: Table, name: string): Cell[] {
  return table.data[name] ?? new Array(table.rows).fill(null);
}

export function numbers(table: Table, name: string): (number | null)[] {
  return column(table, name).map((value) => (typeof value === 'number' ? value : null));
}

/** A `…_us` column in nanoseconds; three decimals of a µs are exact. */
export function nanoseconds(table: Table, name: string): (number | null)[] {
  return column(table, name).map((value) => (typeof value === 'number' ? Math.round(value * 1e3) : null));
}

export function texts(table: Table, name: string): string[] {
  return column(table, name).map((value) => (value === null ? '' : String(value)));
}

export function sum(values: Iterable<number | null>): number {
  let total = 0;
  for (const value of values) total += value ?? 0;
  return total;
}

export function allRows(table: Table): Order {
  return Array.from({ length: table.rows }, (_, row) => row);
}

export function takeRows(table: Table, rows: Order): Table {
  const data = Object.entries(table.data).map(([name, values]) => [name, rows.map((row) => values[row])]);
  return { ...table, data: Object.fromEntries(data), rows: rows.length };
}

/** Sorts rows by a column; what is missing comes last either way, equal rows keep their order. */
export function sortRows(order: Order, values: Cell[], descending: boolean): Order {
  const sign = descending ? -1 : 1;
  return [...order].sort((a, b) => {
    const left = values[a];
    const right = values[b];
    if (left === null || right === null) return left === right ? a - b : left === null ? 1 : -1;
    const compared =
      typeof left === 'string' && typeof right === 'string' ? left.localeCompare(right) : Number(left) - Number(right);
    return compared === 0 ? a - b : sign * compared;
  });
}

/** Rows whose texts in `columns` pass the test. */
export function filterRows(table: Table, order: Order, columns: string[], passes: (text: string) => boolean): Order {
  const read = columns.map((name) => column(table, name));
  return order.filter((row) => passes(read.map((values) => values[row] ?? '').join('\n')));
}

export function describe(table: Table, name: string): string {
  return table.columns.find((one) => one.name === name)?.description ?? '';
}

/** The table without some of its columns. */
export function dropColumns(table: Table, names: string[]): Table {
  if (names.length === 0) return table;
  const data = Object.fromEntries(Object.entries(table.data).filter(([name]) => !names.includes(name)));
  return { ...table, columns: table.columns.filter((one) => !names.includes(one.name)), data };
}

export function toCsv(table: Table, order: Order): string {
  const names = table.columns.map((one) => one.name);
  const quote = (value: Cell) => {
    const text = value === null ? '' : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = order.map((row) => names.map((name) => quote(table.data[name][row])).join(','));
  return `${[names.map(quote).join(','), ...lines].join('\r\n')}\r\n`;
}

/** The shape of the command line's `--format json`. */
export function toJson(table: Table, order: Order): string {
  const rows = order.map((row) =>
    Object.fromEntries(table.columns.map((one) => [one.name, table.data[one.name][row]])),
  );
  const { view, trace, columns, notes } = table;
  return `${JSON.stringify({ view, trace, columns, rows, notes }, null, 1)}\n`;
}

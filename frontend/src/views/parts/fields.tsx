import type { ComponentChildren } from 'preact';
import {
  count,
  exactTime,
  instantIn,
  largest,
  MISSING,
  medianScale,
  memorySize,
  percent,
  scaled,
  significant,
  timeScale,
} from '../../lib/format';
import { sourceLabel } from '../../lib/names';
import { column, describe, nanoseconds, numbers } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Name } from './bits';
import type { GridColumn } from './sheet';

/** How a column of a view is shown. */
export interface Field {
  key: string;
  title: string;
  as: 'name' | 'source' | 'text' | 'time' | 'instant' | 'count' | 'percent' | 'bytes' | 'decimal';
  width?: string;
  /** What stands for a missing value. */
  none?: string;
  /** What it means; the view's own words without. */
  help?: string;
}

const WIDTHS: Record<Field['as'], string> = {
  name: 'auto',
  source: 'auto',
  text: '132px',
  time: '96px',
  instant: '104px',
  count: '84px',
  percent: '76px',
  bytes: '92px',
  decimal: '92px',
};

const NUMBERS: Field['as'][] = ['time', 'instant', 'count', 'percent', 'bytes', 'decimal'];

/** Columns of a view for a grid: units by the values, definitions by the backend. */
export function fieldColumns(table: Table, fields: Field[]): GridColumn[] {
  return fields.map((field) => {
    const { unit, cell, hover } = FORMATS[field.as](table, field);
    return {
      key: field.key,
      title: unit ? `${field.title}, ${unit}` : field.title,
      help: field.help ?? describe(table, field.key),
      width: field.width ?? WIDTHS[field.as],
      number: NUMBERS.includes(field.as),
      cell,
      hover,
    };
  });
}

interface Format {
  unit?: string;
  cell: (row: number) => ComponentChildren;
  hover?: (row: number) => string;
}

type MakeFormat = (table: Table, field: Field) => Format;

function missing(text: string | undefined): ComponentChildren {
  return <span class="muted">{text ?? MISSING}</span>;
}

const asName: MakeFormat = (table, { key, none }) => {
  const values = column(table, key);
  const cell = (row: number) => {
    const value = values[row];
    return value === null || value === '' ? missing(none) : <Name name={String(value)} />;
  };
  return { cell };
};

const asSource: MakeFormat = (table, { key, none }) => {
  const values = column(table, key);
  const cell = (row: number) => {
    const value = values[row];
    if (typeof value !== 'string' || value === '') return missing(none);
    return <span title={value}>{sourceLabel(value) ?? value}</span>;
  };
  return { cell };
};

const asText: MakeFormat = (table, { key, none }) => {
  const values = column(table, key);
  return { cell: (row) => values[row] ?? missing(none) };
};

const asTime: MakeFormat = (table, { key }) => {
  const values = nanoseconds(table, key);
  const scale = medianScale(values);
  return { unit: scale.unit, cell: (row) => scaled(values[row], scale), hover: (row) => exactTime(values[row]) };
};

const asInstant: MakeFormat = (table, { key }) => {
  const values = nanoseconds(table, key);
  const scale = timeScale(largest(values));
  const cell = (row: number) => {
    const value = values[row];
    return value === null ? MISSING : instantIn(value, scale);
  };
  return { unit: scale.unit, cell, hover: (row) => exactTime(values[row]) };
};

function asNumber(print: (value: number | null) => string): MakeFormat {
  return (table, { key }) => {
    const values = numbers(table, key);
    const hover = (row: number) => (values[row] === null ? 'not recorded' : String(values[row]));
    return { cell: (row) => print(values[row]), hover };
  };
}

const FORMATS: Record<Field['as'], MakeFormat> = {
  name: asName,
  source: asSource,
  text: asText,
  time: asTime,
  instant: asInstant,
  count: asNumber(count),
  percent: asNumber(percent),
  bytes: asNumber(memorySize),
  decimal: asNumber((value) => (value === null ? MISSING : significant(value))),
};

/** The samples both sides check; written by the backend's tests. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeTile } from '../src/model/tile';

const FOLDER = join(import.meta.dirname, '../../tests/wire');
const files = existsSync(FOLDER) ? readdirSync(FOLDER).filter((name) => name.endsWith('.json')) : [];

/** Keys each shape must have, by the start of the sample's name. */
const SHAPES: Record<string, string[]> = {
  runs: ['state', 'logdir', 'folders', 'generation', 'runs', 'problems', 'error'],
  info: ['origin_ns', 'end_ns', 'events', 'steps', 'pages', 'notes', 'health', 'fixes'],
  session: ['state', 'stage', 'bytes_done', 'bytes_total', 'events', 'elapsed_ms', 'changed', 'error', 'info'],
  view: ['view', 'trace', 'columns', 'data', 'rows', 'notes'],
  lanes: ['end_ns', 'rows', 'lanes'],
  names: ['names'],
  event: ['id', 'name', 'kind', 'start_ns', 'duration_ns', 'row', 'category', 'args', 'parents', 'works', 'same_name'],
  longest: ['id', 'name', 'kind', 'start_ns', 'duration_ns', 'row'],
  neighbor: ['event'],
  search: ['total', 'names', 'hits'],
  area: ['rows', 'total_ns', 'events'],
  minimap: ['px', 'end_ns', 'devices', 'host'],
  error: ['error'],
};

describe.skipIf(files.length === 0)('samples in tests/wire (skipped: there are none yet)', () => {
  it.each(files)('%s has the shape of its route', (name) => {
    const sample = JSON.parse(readFileSync(join(FOLDER, name), 'utf8'));
    const route = Object.keys(SHAPES).find((key) => name.startsWith(key));
    if (!route) return;
    expect(Object.keys(sample)).toEqual(expect.arrayContaining(SHAPES[route]));
    if (route === 'view') {
      for (const column of sample.columns) expect(sample.data[column.name]).toHaveLength(sample.rows);
    }
  });

  it.runIf(existsSync(join(FOLDER, 'tile.bin')))('tile.bin decodes', () => {
    const bytes = readFileSync(join(FOLDER, 'tile.bin'));
    const tile = decodeTile(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer);
    expect([...tile.rows.values()].reduce((sum, row) => sum + row.count, 0)).toBe(tile.n);
  });
});

import { encodeTile } from '../dev/mock/tile';
import { decodeTile, type Tile } from '../src/model/tile';
import { KINDS, type Table } from '../src/model/wire';

/** A tile of one row, from `[start, end, name?, kind?]`. */
export function tileOf(bars: [number, number, number?, string?][], window = { t0: 0, t1: 100 }, px = 100): Tile {
  const list = bars.map(([start, end, name = 0, kind = 'kernel'], id) => ({ row: 0, start, end, id, name, kind }));
  return decodeTile(encodeTile(list, [0], window, px));
}

export function tableOf(data: Table['data'], view = 'test'): Table {
  const names = Object.keys(data);
  return {
    view,
    trace: { path: 'a.pt.trace.json', run: 'a', rank: 0, span: '1', origin_ns: '0' },
    columns: names.map((name) => ({ name, unit: null, type: 'number', description: `What ${name} means.` })),
    data,
    rows: data[names[0]].length,
    notes: [],
  };
}

export const kindCode = (kind: string) => KINDS.indexOf(kind as never);

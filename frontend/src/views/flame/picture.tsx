import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { blend, kindColour, word } from '../../lib/colours';
import { percent } from '../../lib/format';
import { wordFilter } from '../../lib/names';
import { type Flame, frameKind, WEIGHT_WORDS, weightExact, weights } from '../../model/stacks';
import { flameColour, flameQuery, flameZoom, selection, theme } from '../../model/state';
import { allRows, texts } from '../../model/tables';
import { Icicle } from '../parts/icicle';

/** Zooms to a frame and tells about it. */
export function pickFrame(flame: Flame, row: number): void {
  const name = flame.table.data.name[row];
  flameZoom.value = flame.tree.children[row].length > 0 ? row : flameZoom.value;
  if (typeof name === 'string') selection.value = { kind: 'frame', name };
}

function useColour(flame: Flame): (row: number) => string {
  const shade = theme.value;
  const by = flameColour.value;
  return useMemo(() => {
    if (by === 'kind') {
      const kinds = allRows(flame.table).map((row) => kindColour(frameKind(flame.table, row), shade));
      return (row: number) => kinds[row];
    }
    const totals = weights(flame.table, 'device', 'total');
    const whole = Math.max(...flame.tree.roots.map((row) => totals[row]), 1);
    const cold = word(kindColour('other', shade));
    const hot = word(kindColour('communication', shade));
    return (row: number) => hexOf(blend(cold, hot, Math.min(1, totals[row] / whole)));
  }, [flame, by, shade]);
}

function hexOf(pixel: number): string {
  const part = (shift: number) => ((pixel >> shift) & 0xff).toString(16).padStart(2, '0');
  return `#${part(0)}${part(8)}${part(16)}`;
}

export function Picture({ flame, zoom }: { flame: Flame; zoom: number | null }): JSX.Element {
  const { table, tree, values, names, weight, whole, stackless } = flame;
  const query = flameQuery.value;
  const full = useMemo(() => texts(table, 'name'), [table]);
  const pale = useMemo(() => {
    if (query.trim() === '') return null;
    const passes = wordFilter(query);
    return (row: number) => !passes(full[row]);
  }, [full, query]);
  const colour = useColour(flame);
  const what = selection.value;
  const chosen = what?.kind === 'frame' ? chosenRow(flame, what.name, zoom) : null;
  const own = useMemo(() => weights(table, weight, 'self'), [table, weight]);
  return (
    <div class="flame-picture" data-rows={table.rows} data-pale={pale ? allRows(table).filter(pale).length : 0}>
      <Icicle
        testId="flame-canvas"
        label={`Call stacks by ${WEIGHT_WORDS[weight].toLowerCase()}: arrows move, Enter zooms, Backspace goes back`}
        tree={tree}
        values={values}
        names={names}
        colour={colour}
        shaded={flameColour.value === 'kind'}
        pale={pale}
        zoom={zoom}
        aside={stackless}
        chosen={chosen}
        onPick={(row) => pickFrame(flame, row)}
        onBack={() => {
          if (zoom !== null) flameZoom.value = tree.parent[zoom] >= 0 ? tree.parent[zoom] : null;
        }}
        tooltip={(row) => (
          <>
            <b>{full[row] || names[row]}</b>
            <span>
              {WEIGHT_WORDS[weight]} {weightExact(weight, values[row])}, {percent((100 * values[row]) / (whole || 1))}
            </span>
            <span class="muted">own {weightExact(weight, own[row])}</span>
          </>
        )}
      />
    </div>
  );
}

/** Of the frames of a name, the one that is zoomed to, else the first. */
function chosenRow(flame: Flame, name: string, zoom: number | null): number | null {
  const names = flame.table.data.name;
  if (zoom !== null && names[zoom] === name) return zoom;
  const first = names.indexOf(name);
  return first < 0 ? null : first;
}

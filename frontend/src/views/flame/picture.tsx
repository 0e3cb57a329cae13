import { batch } from '@preact/signals';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { blend, kindColour, word } from '../../lib/colours';
import { percent, plural } from '../../lib/format';
import { matcher } from '../../model/stack_matches';
import { rowKeys, zoomOf } from '../../model/stack_zoom';
import {
  chosenRow,
  type Flame,
  frameKind,
  nodeOf,
  WEIGHT_WORDS,
  weightExact,
  weights,
  weightText,
} from '../../model/stacks';
import { flameColour, flameQuery, flameZoom, selection, theme } from '../../model/state';
import { allRows, numbers, sum, texts } from '../../model/tables';
import { above } from '../../model/tree';
import { Icicle } from '../parts/icicle';

/** Zooms to a frame and tells about it; shows what is in a sum of small ones; tells why something has no stack. */
export function pickFrame(flame: Flame, row: number, zooms = true): void {
  const name = flame.table.data.name[row];
  const node = nodeOf(flame.table, row) ?? undefined;
  batch(() => {
    if (flame.small.has(row)) selection.value = null;
    else selection.value = { kind: 'frame', name: name === null ? null : String(name), node };
    if (flame.small.has(row) || (zooms && flame.tree.children[row].length > 0))
      flameZoom.value = zoomOf(flame, row) ?? flameZoom.value;
  });
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

interface PictureProps {
  flame: Flame;
  /** The row that fills the width. */
  zoom: number | null;
  /** Whether nothing better is on its way. */
  refined: boolean;
  /** Whether its places mean anything in what is asked for now. */
  current: boolean;
}

export function Picture({ flame, zoom, refined, current }: PictureProps): JSX.Element {
  const { table, tree, values, names, weight, whole, stackless, small } = flame;
  const query = flameQuery.value;
  const full = useMemo(() => texts(table, 'name'), [table]);
  const pale = useMemo(() => {
    const fits = matcher(flame, query);
    return fits && ((row: number) => !fits(row));
  }, [flame, query]);
  const colour = useColour(flame);
  const keyOf = useMemo(() => rowKeys(flame), [flame]);
  const own = useMemo(() => weights(table, weight, 'self'), [table, weight]);
  return (
    <div
      class="flame-picture"
      data-rows={table.rows}
      data-pale={pale ? allRows(table).filter(pale).length : 0}
      data-refined={refined}
    >
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
        small={small}
        keyOf={keyOf}
        chosen={chosenRow(table, selection.value)}
        onPick={(row) => current && pickFrame(flame, row)}
        onBack={() => {
          const up = zoom === null ? undefined : above(tree, zoom).pop();
          flameZoom.value = up === undefined ? null : zoomOf(flame, up);
        }}
        tooltip={(row) => (
          <>
            <b>{small.has(row) ? smallTitle(flame, row) : full[row] || names[row]}</b>
            <span>
              {WEIGHT_WORDS[weight]} {weightExact(weight, values[row])}, {percent((100 * values[row]) / (whole || 1))}
            </span>
            <span class="muted">{hintOf(flame, row) ?? `own ${weightExact(weight, own[row])}`}</span>
          </>
        )}
      />
    </div>
  );
}

function smallTitle({ table, tree, weight, least, group }: Flame, row: number): string {
  if (group?.row === row)
    return `${plural(tree.children[row].length, 'frame')} that have little each, with all they call`;
  return `${plural(sum([numbers(table, 'nodes')[row]]), 'frame')} with less than ${weightText(weight, least)} each`;
}

/** What a row that is no frame stands for. */
function hintOf({ small, stackless, group }: Flame, row: number): string | null {
  if (row === stackless) return 'No frame is known of it: click to read why';
  return small.has(row) && group?.row !== row ? 'Click to see what is in it' : null;
}

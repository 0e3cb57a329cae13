import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { blend, inkOn, shadeOf, word } from '../../lib/colours';
import { count } from '../../lib/format';
import { theme } from '../../model/state';
import { type Block, layOut, type Tree, withinReach } from '../../model/tree';
import { useSize } from './size';

export const BLOCK_HEIGHT = 19;
/** Thinner blocks cannot be seen. */
const LEAST_PX = 0.4;
/** What a search has found is never thinner. */
const FOUND_PX = 2;
const SHADE = 0.09;
/** Room that a text needs to tell anything. */
const TEXT_PX = 28;

export interface IcicleProps {
  label: string;
  tree: Tree;
  values: number[];
  names: string[];
  colour: (row: number) => string;
  /** Whether neighbours of one colour differ by a shade. */
  shaded: boolean;
  /** Rows that are drawn pale. */
  pale: ((row: number) => boolean) | null;
  zoom: number | null;
  /** A row beside the others: drawn last, and hatched. */
  aside?: number | null;
  /** Rows that come after their neighbours, and before the one aside. */
  small?: ReadonlySet<number>;
  /** What tells a row in another tree of the same; by its number without. */
  keyOf?: (row: number) => string;
  chosen: number | null;
  onPick: (row: number) => void;
  onBack: () => void;
  tooltip: (row: number) => ComponentChildren;
  testId: string;
}

/** Where the mouse is: in the window, and on the canvas. */
interface Spot {
  x: number;
  y: number;
  left: number;
  top: number;
}

/** Blocks on blocks, each as wide as its value, the widest at the left. Mouse and arrows go from one to the other. */
export function Icicle(props: IcicleProps): JSX.Element {
  const { tree, values, zoom, aside, small } = props;
  const { ref, width } = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [spot, setSpot] = useState<Spot | null>(null);
  const { blocks, left } = useMemo(() => {
    const rank = (row: number) => (row === aside ? 2 : Number(small?.has(row) ?? false));
    return withinReach(layOut(tree, values, zoom, rank), zoom);
  }, [tree, values, zoom, aside, small]);
  const { active, setActive, zoomKey } = useInSight(props, blocks, ref);
  useEffect(() => setSpot(null), [zoomKey]);
  const levels = blocks.reduce((most, block) => Math.max(most, block.level + 1), 1);
  const height = levels * BLOCK_HEIGHT + 1;
  useEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, blocks, props, active);
  }, [blocks, width, height, active, props.colour, props.pale, props.chosen, theme.value]);
  const under = (left: number, top: number) => hit(blocks, left / width, Math.floor(top / BLOCK_HEIGHT));
  const touched = spot && under(spot.left, spot.top);
  const onKeyDown = (event: KeyboardEvent) => {
    const next = press(event.key, blocks, active, props);
    if (next === undefined) return;
    event.preventDefault();
    setActive(next);
    const shown = blocks.find((block) => block.row === next);
    if (shown && ref.current) revealLevel(ref.current, shown.level);
  };
  const told = active === null ? '' : props.names[active];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a picture that keys walk through
    <div
      class="icicle"
      ref={ref}
      role="group"
      aria-label={props.label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys walk through the picture
      tabIndex={0}
      onKeyDown={onKeyDown}
      onBlur={() => setActive(null)}
    >
      <canvas
        ref={canvas}
        role="img"
        aria-label={props.label}
        data-testid={props.testId}
        style={{ width: `${width}px`, height: `${height}px`, cursor: touched ? 'pointer' : undefined }}
        onMouseMove={(event) => {
          setSpot({ x: event.clientX, y: event.clientY, left: event.offsetX, top: event.offsetY });
        }}
        onMouseLeave={() => setSpot(null)}
        onClick={(event) => {
          const block = under(event.offsetX, event.offsetY);
          if (block) props.onPick(block.row);
        }}
      />
      {left > 0 && (
        <p class="hint" data-testid="icicle-deeper">
          {count(left)} levels more are not drawn: a click on a block shows what is around it.
        </p>
      )}
      <span class="offscreen" role="status">
        {told.slice(0, 200)}
      </span>
      {spot && touched && <Tip spot={spot}>{props.tooltip(touched.row)}</Tip>}
    </div>
  );
}

/** The row that the keys are at; it, what is chosen and what is zoomed to come into sight as they change. */
function useInSight(props: IcicleProps, blocks: Block[], box: { current: HTMLElement | null }) {
  const { zoom, chosen, keyOf = String } = props;
  const [activeKey, setActiveKey] = useState<string | null>(null);
  // The same in a tree with finer rows: the keys do not lose their place.
  const active = useMemo(
    () => (activeKey === null ? null : (blocks.find((block) => keyOf(block.row) === activeKey)?.row ?? null)),
    [blocks, activeKey, keyOf],
  );
  const zoomKey = zoom === null ? null : keyOf(zoom);
  useEffect(() => {
    // With the row above it.
    const level = blocks.find((block) => block.row === zoom)?.level ?? 0;
    if (box.current) box.current.scrollTop = Math.max(0, level - 1) * BLOCK_HEIGHT;
  }, [zoomKey]);
  const chosenKey = chosen === null ? null : keyOf(chosen);
  useEffect(() => {
    const shown = blocks.find((block) => block.row === chosen);
    const keys = box.current?.contains(document.activeElement);
    // Keys go on from what was chosen; without keys here, nothing is at theirs.
    if (shown || !keys) setActiveKey(keys ? chosenKey : null);
    if (shown && box.current) revealLevel(box.current, shown.level);
  }, [chosenKey, zoomKey]);
  const setActive = (row: number | null) => setActiveKey(row === null ? null : keyOf(row));
  return { active, setActive, zoomKey };
}

const TIP_WIDTH = 420;

function Tip({ spot, children }: { spot: Spot; children: ComponentChildren }): JSX.Element {
  const left = Math.max(4, Math.min(spot.x + 14, window.innerWidth - TIP_WIDTH - 8));
  const below = spot.y < window.innerHeight * 0.6;
  const place = below ? { top: `${spot.y + 16}px` } : { bottom: `${window.innerHeight - spot.y + 10}px` };
  return (
    <div
      class="icicle-tip"
      data-testid="icicle-tip"
      style={{ left: `${left}px`, maxWidth: `${TIP_WIDTH}px`, ...place }}
    >
      {children}
    </div>
  );
}

function hit(blocks: Block[], share: number, level: number): Block | null {
  return blocks.find((block) => block.level === level && block.from <= share && share < block.to) ?? null;
}

/** The row that a key leads to; undefined where it means nothing here. */
function press(key: string, blocks: Block[], active: number | null, props: IcicleProps): number | null | undefined {
  if (key === 'Escape' || key === 'Backspace') {
    props.onBack();
    return active;
  }
  const now = blocks.find((block) => block.row === active);
  if (key === 'Enter' && now) {
    props.onPick(now.row);
    return active;
  }
  if (!key.startsWith('Arrow')) return undefined;
  if (!now) return blocks.length > 0 ? (props.zoom ?? blocks[0].row) : null;
  return neighbour(key, blocks, now, props.tree) ?? active;
}

function neighbour(key: string, blocks: Block[], now: Block, tree: Tree): number | undefined {
  const level = { ArrowUp: now.level - 1, ArrowDown: now.level + 1 }[key] ?? now.level;
  const same = blocks.filter((block) => block.level === level).sort((a, b) => a.from - b.from);
  if (key === 'ArrowUp') return same.find((block) => block.from <= now.from && now.from < block.to)?.row;
  if (key === 'ArrowDown') return same.find((block) => tree.parent[block.row] === now.row)?.row;
  return same[same.indexOf(now) + (key === 'ArrowRight' ? 1 : -1)]?.row;
}

function revealLevel(box: HTMLElement, level: number): void {
  const top = level * BLOCK_HEIGHT;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + BLOCK_HEIGHT > box.scrollTop + box.clientHeight) box.scrollTop = top + BLOCK_HEIGHT - box.clientHeight;
}

function draw(canvas: HTMLCanvasElement, blocks: Block[], props: IcicleProps, active: number | null): void {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext('2d');
  if (!pen) return;
  const style = getComputedStyle(canvas);
  const paper = word(sixDigits(style.getPropertyValue('--raised').trim()));
  pen.scale(ratio, ratio);
  pen.font = `11px ${style.fontFamily}`;
  pen.textBaseline = 'middle';
  const sheet = { pen, width, paper, ink: style.getPropertyValue('--text') };
  const { pale } = props;
  for (const block of blocks) if (!pale || pale(block.row)) drawBlock(sheet, block, props, active);
  // What was found comes last, so that the narrowest is seen beside its neighbours.
  if (pale) for (const block of blocks) if (!pale(block.row)) drawBlock(sheet, block, props, active);
}

interface Sheet {
  pen: CanvasRenderingContext2D;
  width: number;
  paper: number;
  ink: string;
}

function drawBlock({ pen, width, paper, ink }: Sheet, block: Block, props: IcicleProps, active: number | null): void {
  const left = block.from * width;
  const faded = props.pale?.(block.row) ?? false;
  const wide = Math.max((block.to - block.from) * width, props.pale && !faded ? FOUND_PX : 0);
  if (wide < LEAST_PX) return;
  const name = props.names[block.row];
  const solid = blend(word(props.colour(block.row)), paper, props.shaded ? shadeOf(name) * SHADE : 0);
  const pixel = faded ? blend(solid, paper, 0.82) : solid;
  const top = block.level * BLOCK_HEIGHT;
  pen.fillStyle = hex(pixel);
  pen.fillRect(left, top, Math.max(wide - (wide > 3 ? 1 : 0), LEAST_PX), BLOCK_HEIGHT - 1);
  if (block.row === props.aside) hatch(pen, paper, { left, top, wide });
  if (wide > TEXT_PX) {
    const text = fitting(pen, name, wide - 8);
    // Nobody reads letters between stripes: the fill is that of the block still.
    if (block.row === props.aside) pen.fillRect(left + 2, top + 1, pen.measureText(text).width + 5, BLOCK_HEIGHT - 3);
    pen.fillStyle = inkOn(pixel);
    pen.fillText(text, left + 4, top + BLOCK_HEIGHT / 2);
  }
  if (block.row !== props.chosen && block.row !== active) return;
  pen.strokeStyle = ink;
  pen.lineWidth = 2;
  pen.strokeRect(left + 1, top + 1, Math.max(wide - 3, 1), BLOCK_HEIGHT - 3);
}

const HATCH_PX = 7;

/** Stripes of paper over a block. */
function hatch(pen: CanvasRenderingContext2D, paper: number, at: { left: number; top: number; wide: number }): void {
  const { left, top, wide } = at;
  const high = BLOCK_HEIGHT - 1;
  pen.save();
  pen.beginPath();
  pen.rect(left, top, wide, high);
  pen.clip();
  pen.strokeStyle = hex(paper);
  pen.globalAlpha = 0.45;
  pen.lineWidth = 2;
  pen.beginPath();
  for (let x = left - high; x < left + wide; x += HATCH_PX) {
    pen.moveTo(x, top + high);
    pen.lineTo(x + high, top);
  }
  pen.stroke();
  pen.restore();
}

/** Built style sheets have `#fff` for white. */
function sixDigits(colour: string): string {
  return colour.replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3');
}

function hex(pixel: number): string {
  const part = (shift: number) => ((pixel >> shift) & 0xff).toString(16).padStart(2, '0');
  return `#${part(0)}${part(8)}${part(16)}`;
}

/** As much of a text as fits. */
function fitting(pen: CanvasRenderingContext2D, text: string, room: number): string {
  const cut = text.slice(0, Math.ceil(room / 3));
  if (cut.length === text.length && pen.measureText(text).width <= room) return text;
  let [low, high] = [0, cut.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(`${cut.slice(0, middle)}…`).width <= room) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? `${cut.slice(0, low)}…` : '';
}

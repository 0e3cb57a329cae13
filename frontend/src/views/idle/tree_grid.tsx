import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { causeTerm } from '../../lib/causes';
import { causeColour } from '../../lib/colours';
import { count, exactTime, largest, percent, scaled, timeScale } from '../../lib/format';
import { type IdleNode, type IdleTree, LEVEL_WORDS, nodeLabel, type Per, type Visible } from '../../model/idle';
import type { Bar } from '../../model/state';
import { type GridColumn, HeadCell, minimumWidth, ROW_HEIGHT, reveal, Spacer, useWindow } from '../parts/grid';

interface TreeGridProps {
  tree: IdleTree;
  rows: Visible[];
  per: Per;
  sort: Bar;
  onSort: (sort: Bar) => void;
  onTurn: (id: string, open: boolean) => void;
  chosen: string | null;
  onChoose: (node: IdleNode) => void;
  footer: string;
  total: { text: string; exact: string };
  share: string;
  stretches: string;
}

const rowId = (index: number) => `idle-row-${index}`;

type Scale = { unit: string; per: number };

/** The tree as a table that draws only the rows in sight; arrows move and unfold, Enter chooses. */
export function TreeGrid(props: TreeGridProps): JSX.Element {
  const { rows, tree, per } = props;
  const { box, first, last, onScroll } = useWindow(rows.length);
  const [active, setActive] = useState<string | null>(null);
  const at = rows.findIndex((row) => row.node.id === active);
  const each = timeScale(largest(tree.roots.map((node) => node.total / per.divisor)));
  const longest = timeScale(largest(tree.roots.map((node) => node.longest)));
  const columns = columnsOf(tree, per, each, longest);
  const chosen = rows.findIndex((row) => row.node.id === props.chosen);
  // Once for each choice, as soon as the rows above it are open.
  useEffect(() => {
    if (chosen >= 0) reveal(box.current, chosen);
  }, [props.chosen, chosen >= 0]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const next = press(event.key, rows, at, props);
    if (next === null) return;
    event.preventDefault();
    setActive(rows[next]?.node.id ?? null);
    reveal(box.current, next);
  };
  return (
    <div class="grid tree" ref={box} onScroll={onScroll}>
      <table
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table whose rows unfold
        role="treegrid"
        tabIndex={0}
        onKeyDown={onKeyDown}
        aria-label="Who kept the GPU waiting: arrows move and unfold, Enter chooses"
        aria-rowcount={rows.length + 1}
        aria-activedescendant={at < first || at >= last ? undefined : rowId(at)}
        style={{ minWidth: minimumWidth(columns) }}
      >
        <colgroup>
          {columns.map((column) => (
            <col key={column.key} style={{ width: column.width }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <HeadCell key={column.key} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer height={first * ROW_HEIGHT} span={columns.length} />
          {rows.slice(first, last).map((row, i) => (
            <TreeRow
              key={row.node.id}
              row={row}
              index={first + i}
              active={row.node.id === active}
              scales={{ each, longest }}
              {...props}
            />
          ))}
          <Spacer height={(rows.length - last) * ROW_HEIGHT} span={columns.length} />
        </tbody>
        <tfoot>
          <tr>
            <td>{props.footer}</td>
            <td class="number" title={props.total.exact} data-testid="tree-total">
              {props.total.text}
            </td>
            <td class="number">{props.share}</td>
            <td class="number">{props.stretches}</td>
            <td />
          </tr>
        </tfoot>
      </table>
      {rows.length === 0 && <p class="grid-empty">No idle time matches.</p>}
    </div>
  );
}

/** What a key does to the tree: the row to go to, null where it means nothing. */
function press(key: string, rows: Visible[], at: number, props: TreeGridProps): number | null {
  const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 };
  if (key in moves) return Math.max(0, Math.min(rows.length - 1, at + moves[key]));
  const row = rows[at];
  if (!row) return null;
  if (key === 'Enter' || key === ' ') {
    props.onChoose(row.node);
    return at;
  }
  if (key === 'ArrowRight') {
    if (!row.open && row.node.children.length > 0) props.onTurn(row.node.id, true);
    return row.open ? at + 1 : at;
  }
  if (key !== 'ArrowLeft') return null;
  if (row.open) {
    props.onTurn(row.node.id, false);
    return at;
  }
  for (let above = at - 1; above >= 0; above--) if (rows[above].node.depth < row.node.depth) return above;
  return at;
}

function columnsOf(tree: IdleTree, per: Per, each: Scale, longest: Scale): GridColumn[] {
  const levels = tree.levels.map((level) => LEVEL_WORDS[level].title).join(' → ');
  const cell = () => null;
  const words = per.words || 'Idle';
  return [
    { key: 'name', title: levels.replace(/^./, (letter) => letter.toUpperCase()), width: 'auto', cell },
    {
      key: 'total',
      title: `${words.replace(/^./, (letter) => letter.toUpperCase())}, ${each.unit}`,
      help: 'Idle time of the row; rows inside add up to it',
      width: '92px',
      number: true,
      cell,
    },
    {
      key: 'share',
      title: 'Share',
      help: 'Part of all idle time shown; the bar shows its causes',
      width: '88px',
      number: true,
      sortable: false,
      cell,
    },
    {
      key: 'count',
      title: 'Stretches',
      help: 'Stretches of idle time that agree in the row; below the outermost rows, in every column of the tree',
      width: '84px',
      number: true,
      cell,
    },
    {
      key: 'longest',
      title: `Longest, ${longest.unit}`,
      help: 'The longest of these stretches',
      width: '96px',
      number: true,
      cell,
    },
  ];
}

interface TreeRowProps extends TreeGridProps {
  row: Visible;
  index: number;
  active: boolean;
  scales: { each: Scale; longest: Scale };
}

function TreeRow(props: TreeRowProps): JSX.Element {
  const { row, index, tree, per, scales, onTurn, onChoose } = props;
  const { node } = row;
  const chosen = node.id === props.chosen;
  const classes = [index % 2 ? 'odd' : '', props.active ? 'active' : '', chosen ? 'current' : '', 'opens'];
  const share = (100 * node.total) / (tree.total || 1);
  return (
    <tr
      class={classes.filter(Boolean).join(' ')}
      id={rowId(index)}
      aria-rowindex={index + 2}
      aria-level={node.depth + 1}
      aria-posinset={row.place}
      aria-setsize={row.siblings}
      aria-expanded={node.children.length > 0 ? row.open : undefined}
      aria-selected={chosen}
      data-testid="tree-row"
      data-key={node.id.length < 2000 ? node.id : undefined}
      data-depth={node.depth}
      data-total-ns={node.total}
      data-count={node.count}
      data-longest-ns={node.longest}
      onClick={() => onChoose(node)}
    >
      <td title={hover(node)}>
        <span class="tree-name" style={{ paddingLeft: `${16 * node.depth}px` }}>
          <Twist row={row} onTurn={onTurn} />
          {node.level === 'cause' && <span class="swatch" style={{ background: causeColour(node.value ?? '') }} />}
          <span class={node.value === null ? 'name muted' : 'name'}>{nodeLabel(node)}</span>
        </span>
      </td>
      <td
        class="number"
        title={`${exactTime(node.total / per.divisor)}${per.words && ` ${per.words}`}, ${exactTime(node.total)} in all`}
      >
        {scaled(node.total / per.divisor, scales.each)}
      </td>
      <td class="number" title={`${share} %`}>
        <CauseShare node={node} whole={tree.total} most={largest(tree.roots.map((root) => root.total))} />
      </td>
      <td class="number">{count(node.count)}</td>
      <td class="number" title={exactTime(node.longest)}>
        {scaled(node.longest, scales.longest)}
      </td>
    </tr>
  );
}

function hover(node: IdleNode): string {
  if (node.level !== 'cause') return node.value ?? nodeLabel(node);
  return `${nodeLabel(node)}: ${causeTerm(node.value ?? '').help}`;
}

/** Unfolds by the mouse; keys do it from the row. */
function Twist({ row, onTurn }: { row: Visible; onTurn: (id: string, open: boolean) => void }): JSX.Element {
  if (row.node.children.length === 0) return <span class="twist" />;
  return (
    <span
      class="twist turns"
      aria-hidden="true"
      data-testid="twist"
      onClick={(event) => {
        event.stopPropagation();
        onTurn(row.node.id, !row.open);
      }}
    >
      {row.open ? '▾' : '▸'}
    </span>
  );
}

/** A share with the causes it is made of. */
function CauseShare({ node, whole, most }: { node: IdleNode; whole: number; most: number }): JSX.Element {
  const parts = [...node.causes].sort((a, b) => b[1] - a[1]);
  return (
    <span class="share">
      <span class="share-bar stacked" style={{ width: `${(100 * node.total) / (most || 1)}%` }}>
        {parts.map(([cause, time]) => (
          <span key={cause} style={{ flexGrow: time, background: causeColour(cause) }} />
        ))}
      </span>
      <span class="share-text">{percent((100 * node.total) / (whole || 1))}</span>
    </span>
  );
}

import type { JSX } from 'preact';
import { causeTerm } from '../../lib/causes';
import { causeColour } from '../../lib/colours';
import { count, exactTime, largest, percent, scaled, timeScale } from '../../lib/format';
import { type IdleNode, type IdleTree, LEVEL_WORDS, nodeLabel, type Per } from '../../model/idle';
import type { GridColumn } from '../parts/sheet';

const capital = (text: string) => text.replace(/^./, (letter) => letter.toUpperCase());

/** What the tree of idle time shows of each row. */
export function idleColumns(tree: IdleTree, per: Per): GridColumn<IdleNode>[] {
  const each = timeScale(largest(tree.roots.map((node) => node.total / per.divisor)));
  const longest = timeScale(largest(tree.roots.map((node) => node.longest)));
  const most = largest(tree.roots.map((root) => root.total));
  return [
    {
      key: 'name',
      title: capital(tree.levels.map((level) => LEVEL_WORDS[level].title).join(' → ')),
      of: tree.levels,
      width: 'auto',
      cell: (node) => <NodeName node={node} />,
      hover,
    },
    {
      key: 'total',
      title: `${capital(per.words || 'Idle')}, ${each.unit}`,
      help: 'Idle time of the row; rows inside add up to it',
      of: ['total_us'],
      width: '92px',
      number: true,
      cell: (node) => scaled(node.total / per.divisor, each),
      hover: (node) =>
        `${exactTime(node.total / per.divisor)}${per.words && ` ${per.words}`}, ${exactTime(node.total)} in all`,
    },
    {
      key: 'share',
      title: 'Share',
      help: 'Part of all idle time shown; the bar shows its causes',
      of: ['share_pct'],
      width: '88px',
      number: true,
      sortable: false,
      cell: (node) => <CauseShare node={node} whole={tree.total} most={most} />,
      hover: (node) => `${(100 * node.total) / (tree.total || 1)} %`,
    },
    ...stretchColumns(longest),
  ];
}

function stretchColumns(longest: { unit: string; per: number }): GridColumn<IdleNode>[] {
  return [
    {
      key: 'count',
      title: 'Stretches',
      help: 'Stretches of idle time that agree in the row; below the outermost rows, in every column of the tree',
      width: '84px',
      number: true,
      cell: (node) => count(node.count),
    },
    {
      key: 'longest',
      title: `Longest, ${longest.unit}`,
      help: 'The longest of these stretches',
      of: ['longest_us', 'longest_gap', 'longest_start_us'],
      width: '96px',
      number: true,
      cell: (node) => scaled(node.longest, longest),
      hover: (node) => exactTime(node.longest),
    },
  ];
}

function NodeName({ node }: { node: IdleNode }): JSX.Element {
  return (
    <>
      {node.level === 'cause' && <span class="swatch" style={{ background: causeColour(node.value ?? '') }} />}
      <span class={node.value === null ? 'name muted' : 'name'}>{nodeLabel(node)}</span>
    </>
  );
}

function hover(node: IdleNode): string {
  if (node.level !== 'cause') return node.value ?? nodeLabel(node);
  return `${nodeLabel(node)}: ${causeTerm(node.value ?? '').help}`;
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

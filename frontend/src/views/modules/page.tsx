import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { kindColour } from '../../lib/colours';
import { count, duration, exactTime, percent, plural } from '../../lib/format';
import { wordFilter } from '../../lib/names';
import {
  deviceWork,
  firstOpen,
  type Modules,
  moduleKey,
  moduleName,
  moduleRow,
  moduleSort,
  modulesOf,
} from '../../model/modules';
import { useTable } from '../../model/remote';
import {
  type Bar,
  filter,
  filterWords,
  type ModuleGrouping,
  moduleBy,
  moduleQuery,
  selection,
  selectionParameters,
  theme,
} from '../../model/state';
import { allRows, column, nanoseconds, sortRows } from '../../model/tables';
import { above, unfold } from '../../model/tree';
import type { Kind, Table } from '../../model/wire';
import { Busy, Choice, ProblemBox, Section } from '../parts/bits';
import { Export } from '../parts/export';
import { Icicle } from '../parts/icicle';
import { TableNotes } from '../parts/notes';
import { fitting, type GridColumn } from '../parts/sheet';
import { TreeTable, useOpenRows } from '../parts/tree_table';
import { WithinChoice } from '../parts/within';
import { moduleColumns } from './columns';

export function ModulesPage(): JSX.Element {
  const remote = useTable('modules', { by: moduleBy.value, ...selectionParameters(filter.value) });
  const modules = useMemo(() => remote.data && modulesOf(remote.data), [remote.data]);
  return (
    <div class="page fixed" data-testid="page-modules">
      <h1 class="offscreen">Modules</h1>
      {remote.problem && <ProblemBox problem={remote.problem} />}
      {!modules && !remote.problem && <Busy what="Adding up the modules…" />}
      {modules && <Body modules={modules} />}
    </div>
  );
}

function Body({ modules }: { modules: Modules }): JSX.Element {
  const { table } = modules;
  const some = table.rows > (modules.outside === null ? 0 : 1);
  return (
    <>
      <Headline modules={modules} />
      <TableNotes notes={table.notes} />
      {!some && <Nothing />}
      {some && table.data.id && <Strip modules={modules} />}
      <Tree modules={modules} />
    </>
  );
}

function Nothing(): JSX.Element {
  return (
    <p class="hint" data-testid="no-modules">
      No modules{filter.value ? ` ${filterWords(filter.value)}` : ' were recorded'}. Pass <code>with_stack=True</code>{' '}
      to the profiler, and every <code>nn.Module</code> is a row here; or mark parts of the program with{' '}
      <code>record_function</code>.
    </p>
  );
}

function Headline({ modules }: { modules: Modules }): JSX.Element {
  const { table, outside } = modules;
  const all = deviceWork(table);
  const out = outside === null ? 0 : (nanoseconds(table, 'device_self_us')[outside] ?? 0);
  const rows = table.rows - (outside === null ? 0 : 1);
  const noun = moduleBy.value === 'class' ? ['class', 'classes'] : ['module'];
  return (
    <div class="headline">
      <p class="verdict">
        <b>{plural(rows, noun[0], noun[1])}</b>
        {filter.value && ` ${filterWords(filter.value)}`}
        {all > 0 ? (
          <>
            : <b title={exactTime(all)}>{duration(all)}</b> of device work, of which{' '}
            <b title={exactTime(all - out)}>{percent((100 * (all - out)) / all)}</b> is theirs.
          </>
        ) : (
          '; no device work.'
        )}
      </p>
      <WithinChoice />
    </div>
  );
}

const SORT_KINDS: Record<string, Kind> = {
  module: 'op',
  'compiled region': 'api_call',
  graph: 'kernel',
  annotation: 'annotation',
};

function choose(table: Table, row: number): void {
  const key = moduleKey(table, row);
  const what = selection.value;
  selection.value = what?.kind === 'module' && what.key === key ? null : { kind: 'module', key };
}

function useChosen(table: Table): number | null {
  const what = selection.value;
  return what?.kind === 'module' ? moduleRow(table, what.key) : null;
}

/** The tree as a picture: what is wide takes long. */
function Strip({ modules }: { modules: Modules }): JSX.Element {
  const { table, tree, values } = modules;
  const names = useMemo(() => allRows(table).map((row) => moduleName(modules, row)), [modules]);
  const passes = useMemo(() => matching(modules, moduleQuery.value), [modules, moduleQuery.value]);
  const sorts = column(table, 'sort');
  const shade = theme.value;
  const colour = useMemo(
    () => (row: number) => kindColour(SORT_KINDS[String(sorts[row] ?? '')] ?? 'other', shade),
    [modules, shade],
  );
  const device = modules.weight === 'device_total_us';
  return (
    <div class="module-strip">
      <Icicle
        testId="module-strip"
        label={`Modules, as wide as their ${device ? 'device work' : 'host time'}`}
        tree={tree}
        values={values}
        names={names}
        colour={colour}
        shaded
        pale={passes && ((row) => !passes(row))}
        zoom={null}
        chosen={useChosen(table)}
        onPick={(row) => choose(table, row)}
        onBack={() => undefined}
        tooltip={(row) => (
          <>
            <b>{names[row]}</b>
            <span>
              {device ? 'Device total' : 'Host total'} {exactTime(values[row])}
            </span>
          </>
        )}
      />
    </div>
  );
}

function matching(modules: Modules, query: string): ((row: number) => boolean) | null {
  if (query.trim() === '') return null;
  const passes = wordFilter(query);
  return (row) => passes(moduleName(modules, row));
}

function Tree({ modules }: { modules: Modules }): JSX.Element {
  const { table, tree } = modules;
  const [sort, setSort] = useState<Bar | null>(null);
  const { open, turn, add, reset } = useOpenRows(() => firstOpen(tree));
  useEffect(() => reset(firstOpen(tree)), [tree]);
  const chosen = useChosen(table);
  // A row that the picture or the address asks for must be in sight.
  useEffect(() => {
    if (chosen !== null) add(above(tree, chosen));
  }, [chosen, tree]);
  const by = sort && table.data[sort.column] ? sort : moduleSort(modules);
  const passes = useMemo(() => matching(modules, moduleQuery.value), [modules, moduleQuery.value]);
  const rows = useMemo(() => {
    const values = column(table, by.column === 'name' && !table.data.name ? 'class' : by.column);
    return unfold(tree, { open, passes, sort: (some) => sortRows(some, values, by.descending) });
  }, [table, tree, open, passes, by.column, by.descending]);
  const title = moduleBy.value === 'class' ? 'Class' : 'Module';
  const columns = useMemo(() => moduleColumns(modules, title), [modules, title]);
  return (
    <Section
      title="Modules"
      class={fitting(rows.length)}
      aside={<Tools table={table} columns={columns} shown={passes && rows.length} />}
    >
      <TreeTable
        label="Modules"
        name="modules"
        enter="opens the details"
        rows={rows}
        columns={columns}
        sort={by}
        onSort={setSort}
        onTurn={turn}
        chosen={chosen}
        onChoose={(row) => choose(table, row)}
        footer={(one) => <Total modules={modules} column={one} />}
        rowAttributes={(row) => ({ 'data-testid': 'module-row', 'data-id': moduleKey(table, row) })}
        empty={passes ? 'No module matches the filter.' : 'There are no modules to show.'}
      />
    </Section>
  );
}

const GROUPINGS: { value: ModuleGrouping; label: string; help: string }[] = [
  { value: 'tree', label: 'Tree', help: 'Every module at its place' },
  { value: 'class', label: 'Classes', help: 'All modules of a class together' },
];

interface ToolsProps {
  table: Table;
  columns: GridColumn[];
  /** Rows that a filter leaves, those above what it finds among them; null without one. */
  shown: number | null;
}

function Tools({ table, columns, shown }: ToolsProps): JSX.Element {
  return (
    <>
      <span class="muted" data-testid="module-count">
        {shown === null ? plural(table.rows, 'row') : `${count(shown)} of ${plural(table.rows, 'row')}`}
      </span>
      <Choice
        label="What a row is"
        value={moduleBy.value}
        options={GROUPINGS}
        onChange={(value) => (moduleBy.value = value)}
      />
      <Export
        table={table}
        order={allRows(table)}
        name={`modules-by-${moduleBy.value}`}
        grid="modules"
        columns={columns}
      />
    </>
  );
}

/** Own times add up to all there is; total times contain each other. */
function Total({ modules, column: one }: { modules: Modules; column: GridColumn }): JSX.Element | null {
  const { table, outside } = modules;
  const summed = (name: string) => {
    const values = nanoseconds(table, name);
    const total = values.reduce<number>(
      (all, value, row) => all + (name.startsWith('host') && row === outside ? 0 : (value ?? 0)),
      0,
    );
    return <span title={exactTime(total)}>{duration(total)}</span>;
  };
  if (one.key === 'name') return <>All modules, and what is outside</>;
  if (one.key === 'calls')
    return <>{count(column(table, 'calls').reduce<number>((all, value) => all + Number(value), 0))}</>;
  return one.key.endsWith('_self_us') ? summed(one.key) : null;
}

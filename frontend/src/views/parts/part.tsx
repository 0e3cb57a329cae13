import type { ComponentChildren, JSX } from 'preact';
import { count } from '../../lib/format';
import type { Bar } from '../../model/state';
import type { Problem, Table } from '../../model/wire';
import { Busy, ProblemBox } from './bits';
import type { Field } from './fields';
import { ViewGrid } from './view_grid';

interface PartProps {
  title: string;
  testId: string;
  /** Null while it is being read. */
  table: Table | null;
  problem: Problem | null;
  fields: Field[];
  sort: Bar;
  /** Said where there is no row. */
  none?: string;
  /** What the rows leave open, above them. */
  rest?: ComponentChildren;
  open?: (row: number) => void;
}

/** A table of a drawer: what the thing in it is made of. */
export function Part(props: PartProps): JSX.Element {
  const { title, table, problem } = props;
  const rows = table?.rows ?? null;
  return (
    <section class={rows === 0 ? 'block part none' : 'block part'} data-testid={props.testId} data-count={rows}>
      <h3>{rows ? `${title} (${count(rows)})` : title}</h3>
      {problem && <ProblemBox problem={problem} />}
      {!table && !problem && <Busy what="Reading…" />}
      {props.rest}
      {rows === 0 && <p class="hint">{props.none ?? 'None.'}</p>}
      {table && table.rows > 0 && (
        <ViewGrid
          label={title}
          table={table}
          fields={props.fields}
          sort={props.sort}
          testId="part-row"
          onOpen={props.open}
          empty="None."
        />
      )}
    </section>
  );
}

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { STEP_PARTS } from '../../lib/colours';
import { humanise, plural, quantity } from '../../lib/format';
import { column, numbers, texts } from '../../model/tables';
import type { Table } from '../../model/wire';
import { Help } from '../parts/help';

/** Told elsewhere on the page: parts of a step under its bars, figures of a device in its row. */
function isTold(metric: string): boolean {
  return metric.includes(':') || STEP_PARTS.some((part) => metric === `step_${part.key}`);
}

/** The figures of the recording, each with its definition. */
export function Cards({ table }: { table: Table }): JSX.Element {
  const [all, setAll] = useState(false);
  const names = texts(table, 'metric');
  const rows = names.map((_, row) => row).filter((row) => all || !isTold(names[row]));
  const hidden = names.length - rows.length;
  return (
    <div>
      <dl class="cards">
        {rows.map((row) => (
          <Card key={names[row]} table={table} row={row} />
        ))}
      </dl>
      {(hidden > 0 || all) && (
        <p class="more">
          <button type="button" class="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
            {all ? 'Fewer figures' : plural(hidden, 'more figure')}
          </button>
        </p>
      )}
    </div>
  );
}

function Card({ table, row }: { table: Table; row: number }): JSX.Element {
  const value = column(table, 'value')[row];
  const unit = texts(table, 'unit')[row];
  return (
    <div class="card">
      <dt>
        <Help text={texts(table, 'definition')[row]}>{humanise(texts(table, 'metric')[row])}</Help>
      </dt>
      <dd title={value === null ? 'not recorded' : `${value} ${unit}`}>
        {typeof value === 'string' ? value : quantity(numbers(table, 'value')[row], unit || null)}
      </dd>
    </div>
  );
}

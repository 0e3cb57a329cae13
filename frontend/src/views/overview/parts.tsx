import type { JSX } from 'preact';
import { duration, exactTime, largest, MISSING, percent, scaled, timeScale } from '../../lib/format';
import { column, nanoseconds, sum } from '../../model/tables';
import type { Kind, Table } from '../../model/wire';
import { ShareBar, Swatch } from '../parts/bits';

export interface Part {
  label: string;
  kind: Kind;
  values: (number | null)[];
}

/** The parts as figures: the mean of the complete steps, and its share of their period. */
export function PartsTable({ table, parts }: { table: Table; parts: Part[] }): JSX.Element {
  const incomplete = column(table, 'incomplete');
  const steps = incomplete.filter((value) => value !== true).length;
  const mean = (values: (number | null)[]) =>
    steps > 0 ? sum(values.map((value, row) => (incomplete[row] === true ? 0 : value))) / steps : null;
  const whole = mean(nanoseconds(table, 'period_us'));
  const means = parts.map((part) => mean(part.values));
  const scale = timeScale(largest(means));
  const share = (value: number | null) => (value !== null && whole ? (100 * value) / whole : null);
  return (
    <table class="plain parts" data-testid="step-parts">
      <thead>
        <tr>
          <th scope="col">Part</th>
          <th scope="col" class="number">
            {steps === 1 ? 'Time' : 'A step'}, {scale.unit}
          </th>
          <th scope="col" class="number">
            Share
          </th>
        </tr>
      </thead>
      <tbody>
        {parts.map((part, i) => (
          <tr key={part.label}>
            <td>
              <Swatch kind={part.kind} /> {part.label}
            </td>
            <td class="number" title={exactTime(means[i])}>
              {scaled(means[i], scale)}
            </td>
            <td class="number">
              <ShareBar share={share(means[i]) ?? 0} text={percent(share(means[i]))} kind={part.kind} />
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <td>{steps === 1 ? 'The complete step' : 'Mean of the complete steps'}</td>
          <td class="number" title={exactTime(whole)}>
            {whole === null ? MISSING : duration(whole)}
          </td>
          <td class="number">{percent(whole ? 100 : null)}</td>
        </tr>
      </tfoot>
    </table>
  );
}

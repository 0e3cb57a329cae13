import type { JSX } from 'preact';
import { count, exactTime, percent, scaled, timeScale } from '../../lib/format';
import { type GroupTotal, sum } from '../../model/tables';
import { ShareBar, Swatch } from '../parts/bits';

export function EndedBy({ totals }: { totals: GroupTotal[] }): JSX.Element {
  const whole = sum(totals.map((one) => one.total));
  const scale = timeScale(whole);
  return (
    <table class="plain">
      <thead>
        <tr>
          <th scope="col">Ended by</th>
          <th scope="col" class="number">
            Gaps
          </th>
          <th scope="col" class="number">
            Total, {scale.unit}
          </th>
          <th scope="col" class="number wide">
            Share
          </th>
        </tr>
      </thead>
      <tbody>
        {totals.map((one) => (
          <tr key={one.key}>
            <td>
              <Swatch kind={one.key === 'window end' ? 'other' : one.key} /> {one.key || '—'}
            </td>
            <td class="number">{count(one.count)}</td>
            <td class="number" title={exactTime(one.total)}>
              {scaled(one.total, scale)}
            </td>
            <td class="number">
              <ShareBar
                share={(100 * one.total) / (whole || 1)}
                text={percent((100 * one.total) / (whole || 1))}
                kind="idle"
              />
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <td>All</td>
          <td class="number">{count(sum(totals.map((one) => one.count)))}</td>
          <td class="number" title={exactTime(whole)}>
            {scaled(whole, scale)}
          </td>
          <td class="number">{percent(whole > 0 ? 100 : null)}</td>
        </tr>
      </tfoot>
    </table>
  );
}

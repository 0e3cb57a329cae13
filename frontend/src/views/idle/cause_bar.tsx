import type { JSX } from 'preact';
import { causeTerm } from '../../lib/causes';
import { causeColour } from '../../lib/colours';
import { exactTime, percent, timeScale, withUnit } from '../../lib/format';
import { type CauseTotal, keyId, type Per } from '../../model/idle';
import { idleKey } from '../../model/state';
import { sum } from '../../model/tables';

/** All idle time as one bar, with its causes below; a cause chooses its gaps. */
export function CauseBar({ totals, per }: { totals: CauseTotal[]; per: Per }): JSX.Element | null {
  const whole = sum(totals.map((one) => one.total));
  if (whole === 0) return null;
  const scale = timeScale(totals[0].total / per.divisor);
  return (
    <div class="causes" data-testid="cause-bar">
      <div class="cause-bar" aria-hidden="true">
        {totals.map((one) => (
          <span
            key={one.cause}
            style={{ flexGrow: one.total / whole, background: causeColour(one.cause) }}
            title={told(one, whole, per)}
          />
        ))}
      </div>
      <ul class="cause-legend">
        {totals.map((one) => (
          <li key={one.cause}>
            <button
              type="button"
              data-testid="cause"
              data-cause={one.cause}
              data-total-ns={one.total}
              aria-pressed={isChosen(one.cause)}
              title={told(one, whole, per)}
              onClick={() => choose(one.cause)}
            >
              <span class="swatch" style={{ background: causeColour(one.cause) }} />
              {causeTerm(one.cause).title} <b>{withUnit(one.total / per.divisor, scale)}</b>{' '}
              <span class="muted">{percent((100 * one.total) / whole)}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function isChosen(cause: string): boolean {
  return idleKey.value !== null && keyId(idleKey.value) === keyId({ cause });
}

function choose(cause: string): void {
  idleKey.value = isChosen(cause) ? null : { cause };
}

function told(one: CauseTotal, whole: number, per: Per): string {
  const { title, help } = causeTerm(one.cause);
  const each = per.words ? ` ${per.words}, ${exactTime(one.total)} in all` : '';
  return `${title}: ${exactTime(one.total / per.divisor)}${each}, ${percent((100 * one.total) / whole)} of the idle time.\n${help}`;
}

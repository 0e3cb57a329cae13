import type { JSX } from 'preact';
import { percent } from '../../lib/format';
import {
  ALL_WEIGHTS,
  type Flame,
  NO_STACK,
  WEIGHT_WORDS,
  type Weight,
  weightExact,
  weights,
  weightText,
  wholes,
} from '../../model/stacks';
import { flameFrames } from '../../model/state';
import { Block, Fact } from '../drawer/event';
import { Swatch } from '../parts/bits';

const WHY: Record<Weight, string> = {
  device:
    'Device work whose launch call was not recorded, or that was launched by a thread without a frame at that moment. Backward work is launched by autograd’s own threads: it counts at the place of its forward op, and has no stack where that is not known.',
  host: 'Host time of operators that have no recorded stack.',
  idle: 'Idle time of the device while the thread that was looked at had no frame open, or while no thread was behind it.',
  allocated: 'Memory that was allocated by a thread without a frame at that moment.',
};

/** Why something has no stack, and how much it is. */
export function WithoutStack({ flame }: { flame: Flame | null }): JSX.Element {
  const row = flame?.stackless ?? null;
  return (
    <div class="details" data-testid="frame-without">
      <header class="details-title">
        <Swatch kind="other" />
        <h2>{NO_STACK.charAt(0).toUpperCase() + NO_STACK.slice(1)}</h2>
      </header>
      <div class="details-columns frame-columns">
        {flame && row !== null && <Amounts flame={flame} row={row} />}
        <Block title="Why">
          <p class="hint">{WHY[flame?.weight ?? 'device']}</p>
          {flameFrames.value === 'python' && (
            <p class="hint">
              With operators as frames, it belongs to those that launched it, where they are known.{' '}
              <button type="button" class="quiet" onClick={() => (flameFrames.value = 'all')}>
                Show operators too
              </button>
            </p>
          )}
        </Block>
      </div>
    </div>
  );
}

function Amounts({ flame, row }: { flame: Flame; row: number }): JSX.Element {
  const whole = wholes(flame.table);
  const own = (weight: Weight) => weights(flame.table, weight, 'self')[row];
  return (
    <Block title="How much">
      <dl class="facts">
        {ALL_WEIGHTS.filter((weight) => own(weight) > 0).map((weight) => {
          const value = own(weight);
          return (
            <Fact
              key={weight}
              name={WEIGHT_WORDS[weight]}
              value={`${weightText(weight, value)}, ${percent((100 * value) / whole[weight])}`}
              hover={`${weightExact(weight, value)} of ${weightExact(weight, whole[weight])}`}
            />
          );
        })}
      </dl>
    </Block>
  );
}

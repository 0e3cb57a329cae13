import type { JSX } from 'preact';
import { count, duration, plural, tickWithUnit, timeScale, withUnit } from '../../lib/format';
import type { Bin } from '../../lib/histogram';
import { useSize } from './size';

/** Room that a label of the axis takes. */
const LABEL_PX = 64;
/** Less would cut it at the right. */
const LEAST_PX = 48;

interface HistogramProps {
  bins: Bin[];
  label: string;
  /** What a bar's height tells: how many, or how long in all. */
  by: 'count' | 'total';
  noun: string;
  testId?: string;
  onPick?: (bin: Bin) => void;
  picked?: Bin | null;
}

/** Bars of lengths of time; edges below, exact figures on hover. */
export function Histogram(props: HistogramProps): JSX.Element {
  const { bins, by } = props;
  const { ref, width } = useSize<HTMLDivElement>();
  const labels = Math.max(1, Math.floor(Math.min(width, bins.length * 64) / LABEL_PX));
  const every = Math.ceil(bins.length / labels);
  const slot = Math.min(64, width / Math.max(1, bins.length));
  const told = (i: number) => i % every === 0 && width - i * slot >= LEAST_PX;
  const most = bins.reduce((a, bin) => Math.max(a, bin[by]), 0);
  const scale = timeScale(most);
  const top = by === 'count' ? count(most) : withUnit(most, scale);
  return (
    <figure class="histogram" aria-label={props.label}>
      <div class="histogram-plot">
        <span class="histogram-top muted">{top}</span>
        {bins.map((bin) => (
          <HistogramBar key={bin.low} bin={bin} most={most} {...props} />
        ))}
      </div>
      <div class="histogram-axis" aria-hidden="true" ref={ref}>
        {bins.map((bin, i) => (
          <span key={bin.low}>{told(i) ? edge(bin.low) : ''}</span>
        ))}
      </div>
    </figure>
  );
}

function edge(ns: number): string {
  return tickWithUnit(ns, timeScale(ns || 1));
}

function HistogramBar(props: HistogramProps & { bin: Bin; most: number }): JSX.Element {
  const { bin, by, most, noun, onPick, picked } = props;
  const told = `${edge(bin.low)} to ${edge(bin.high)}: ${plural(bin.count, noun)}, ${duration(bin.total)} in all`;
  const height = most > 0 && bin[by] > 0 ? `max(2px, ${(100 * bin[by]) / most}%)` : '0';
  const inner = <span class="histogram-bar" style={{ height }} />;
  const data = {
    'data-testid': props.testId,
    'data-count': bin.count,
    'data-low-ns': bin.low,
    'data-high-ns': bin.high,
  };
  if (!onPick) {
    return (
      <span class="histogram-slot" title={told} role="img" aria-label={told} {...data}>
        {inner}
      </span>
    );
  }
  return (
    <button
      type="button"
      class="histogram-slot"
      title={told}
      aria-label={told}
      aria-pressed={picked?.low === bin.low}
      disabled={bin.count === 0}
      onClick={() => onPick(bin)}
      {...data}
    >
      {inner}
    </button>
  );
}

import type { JSX } from 'preact';
import { go, showCause } from '../../model/state';
import { type Figure, verdict } from '../../model/verdict';
import type { Info, Table } from '../../model/wire';

interface VerdictProps {
  info: Info;
  steps: Table;
  devices: Table;
  causes: Table | null;
}

export function Verdict({ info, steps, devices, causes }: VerdictProps): JSX.Element {
  return (
    <p class="verdict" data-testid="verdict">
      {verdict(info, steps, devices, causes).map((part, i) =>
        typeof part === 'string' ? <span key={i}>{part}</span> : <FigureLink key={i} figure={part} />,
      )}
    </p>
  );
}

function FigureLink({ figure }: { figure: Figure }): JSX.Element {
  const follow = () => {
    if (figure.to === 'steps') document.getElementById('steps')?.scrollIntoView({ block: 'start' });
    else if (figure.cause) showCause(figure.cause);
    else if (figure.to) go(figure.to);
  };
  return (
    <button type="button" class="figure" title={figure.hint} onClick={follow}>
      {figure.text}
    </button>
  );
}

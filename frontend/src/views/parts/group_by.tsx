import type { JSX } from 'preact';

interface GroupByProps {
  testId: string;
  /** Nothing where the title of the table leads to it. */
  label?: string;
  value: string;
  tokens: readonly string[];
  labels: Record<string, string>;
  onChange: (token: string) => void;
}

/** What the rows of a table are. */
export function GroupBy({ testId, label = 'Group by', value, tokens, labels, onChange }: GroupByProps): JSX.Element {
  return (
    <label class="inline">
      {label}{' '}
      <select
        data-testid={testId}
        aria-label={label || 'Group by'}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {tokens.map((token) => (
          <option key={token} value={token}>
            {labels[token]}
          </option>
        ))}
      </select>
    </label>
  );
}

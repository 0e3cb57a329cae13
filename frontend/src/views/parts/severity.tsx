import type { JSX } from 'preact';
import { SEVERITY_WORDS } from '../../model/health';
import type { Severity } from '../../model/wire';

const SIGNS: Record<Severity, string> = { ok: '✓', info: 'i', warning: '!', error: '✕' };

/** A sign by shape and colour. */
export function SeveritySign({ severity }: { severity: Severity }): JSX.Element {
  return (
    <span class={`sign ${severity}`} aria-hidden="true">
      {SIGNS[severity]}
    </span>
  );
}

export function SeverityWord({ severity }: { severity: Severity }): JSX.Element {
  return (
    <span class={`severity ${severity}`}>
      <SeveritySign severity={severity} /> {SEVERITY_WORDS[severity]}
    </span>
  );
}

import type { JSX } from 'preact';
import { sourceLabel, sourcePlace } from '../../lib/names';
import { editorLink } from '../../model/stacks';
import { CopyButton } from './bits';

/** A source line by its file's name; all of its path on hover. */
export function SourceName({ source }: { source: string }): JSX.Element {
  return (
    <span class="name" title={source}>
      {sourceLabel(source) ?? source}
    </span>
  );
}

/** Where a line is written: text to copy, and a link that only a click follows. */
export function SourcePlace({ source }: { source: string }): JSX.Element | null {
  const place = sourcePlace(source);
  if (!place) return null;
  const text = `${place.file}:${place.line}`;
  const link = editorLink(place.file, place.line);
  return (
    <div class="place" data-testid="source-place">
      <p class="mono wrap-anywhere">{text}</p>
      <p>
        <CopyButton text={text} label="Copy file and line" />{' '}
        {link && (
          <a href={link} rel="noreferrer">
            Open in VS Code
          </a>
        )}
      </p>
    </div>
  );
}

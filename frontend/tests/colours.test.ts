import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CAUSES, causeTerm, pathTerm } from '../src/lib/causes';
import {
  causeColour,
  contrast,
  inkOn,
  PHASES,
  palette,
  pathColour,
  phaseColour,
  SHADES,
  word,
} from '../src/lib/colours';
import { categoryColour } from '../src/lib/memory_colours';
import { KINDS } from '../src/model/wire';

describe('text on bars', () => {
  it.each(['light', 'dark'] as const)('is readable in every shade, %s', (theme) => {
    const { bars } = palette(theme);
    const poor = KINDS.flatMap((kind, code) =>
      // Idle time is hatched and has no text.
      Array.from({ length: kind.startsWith('idle') ? 0 : SHADES }, (_, shade) => {
        const bar = bars[code * SHADES + shade];
        return { kind, shade, contrast: contrast(bar, word(inkOn(bar))) };
      }).filter((one) => one.contrast < 4.5),
    );
    expect(poor).toEqual([]);
  });

  it('does not flip between neighbours of one kind', () => {
    for (const theme of ['light', 'dark'] as const) {
      const { bars } = palette(theme);
      const flips = KINDS.filter((kind, code) => {
        const inks = new Set([0, 1, 2, 3].map((shade) => inkOn(bars[code * SHADES + shade])));
        return !kind.startsWith('idle') && inks.size > 1;
      });
      expect(flips).toEqual([]);
    }
  });
});

describe('causes of idle time', () => {
  const python = readFileSync(join(import.meta.dirname, '../../analysis/kinetoscope/idle/causes.py'), 'utf8');
  const doing = readFileSync(join(import.meta.dirname, '../../analysis/kinetoscope/idle/host_time.py'), 'utf8');
  const listed = (text: string, name: string) =>
    [...(new RegExp(`^${name} = \\(([^)]*)\\)`, 'm').exec(text)?.[1] ?? '').matchAll(/"([^"]+)"/g)].map(
      (one) => one[1],
    );

  it('are those of the analysis, in its order', () => {
    expect(CAUSES).toEqual([...listed(doing, 'DOING'), ...listed(python, 'CAUSES')]);
  });

  it('have words and a colour of their own, on either paper', () => {
    expect(new Set(CAUSES.map(causeColour)).size).toBe(CAUSES.length);
    for (const cause of CAUSES) {
      expect(causeTerm(cause).help, cause).toMatch(/\.$/);
      for (const paper of ['#ffffff', '#14171b']) {
        expect(contrast(word(causeColour(cause)), word(paper)), `${cause} on ${paper}`).toBeGreaterThan(1.7);
      }
    }
  });

  it('that are not known yet are called by their key', () => {
    expect(causeTerm('a new one')).toMatchObject({ title: 'a new one', help: '' });
    expect(causeColour('a new one')).toMatch(/^#/);
    expect(causeColour('constructor')).toMatch(/^#/);
    expect(causeTerm('constructor').title).toBe('constructor');
  });

  it('look the same on the critical path, beside work in the colours of the timeline', () => {
    expect(pathColour('host work', 'dark')).toBe(causeColour('host work'));
    expect(pathColour('compute', 'light')).not.toBe(pathColour('communication', 'light'));
    expect(pathTerm('memcpy').title).toBe('Copy');
  });
});

describe('phases of training', () => {
  it('have a colour of their own, readable on either paper', () => {
    expect(new Set([...PHASES, 'other'].map(phaseColour)).size).toBe(PHASES.length + 1);
    expect(phaseColour('constructor')).toBe(phaseColour('other'));
    for (const phase of PHASES) {
      for (const paper of ['#ffffff', '#14171b']) {
        expect(contrast(word(phaseColour(phase)), word(paper)), `${phase} on ${paper}`).toBeGreaterThan(1.7);
      }
    }
  });

  it('look like the memory that each allocates', () => {
    expect(['input', 'activation', 'gradient', 'optimizer_state'].map(categoryColour)).toEqual(PHASES.map(phaseColour));
  });

  it('are those of the analysis', () => {
    const python = readFileSync(join(import.meta.dirname, '../../analysis/kinetoscope/phases.py'), 'utf8');
    for (const phase of PHASES) expect(python).toContain(`"${phase}"`);
  });
});

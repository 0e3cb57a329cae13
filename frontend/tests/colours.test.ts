import { describe, expect, it } from 'vitest';
import { contrast, inkOn, palette, SHADES, word } from '../src/lib/colours';
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

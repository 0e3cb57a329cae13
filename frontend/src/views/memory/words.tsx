import type { JSX } from 'preact';

/** Why there is a curve and no more, and what to do about it. */
export function NoBlocks(): JSX.Element {
  return (
    <p class="hint" data-testid="no-blocks">
      This recording has the size of every allocation, and not its address: there is a curve, but no telling which block
      was freed when, or what is live. To see blocks, record again with profile_memory=True and a newer PyTorch, whose
      [memory] events carry addresses.
    </p>
  );
}

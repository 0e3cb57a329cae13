/** The few things asked of the browser and of TensorBoard's page around us. Nothing here may throw. */

export function attempt<T>(action: () => T, fallback: T): T {
  try {
    return action();
  } catch {
    return fallback;
  }
}

/** `window.parent`, or our own window where the parent is of another origin. */
export function host(): Window {
  return attempt(() => (typeof window.parent.location.hash === 'string' ? window.parent : window), window);
}

/** TensorBoard hides the frame of a tab by giving it no height; loops and polling stop then. */
export function isHidden(): boolean {
  return window.innerHeight === 0;
}

export function reducedMotion(): boolean {
  return attempt(() => window.matchMedia('(prefers-reduced-motion: reduce)').matches, false);
}

/** Origins other than localhost over http have no `navigator.clipboard`. */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // Refused: the old way below needs no permission.
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('readonly', '');
  area.className = 'offscreen';
  document.body.append(area);
  area.select();
  const copied = attempt(() => document.execCommand('copy'), false);
  area.remove();
  return copied;
}

export function download(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function remember(key: string, value: string): void {
  attempt(() => window.localStorage.setItem(`kinetoscope.${key}`, value), undefined);
}

export function recall(key: string): string | null {
  return attempt(() => window.localStorage.getItem(`kinetoscope.${key}`), null);
}

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

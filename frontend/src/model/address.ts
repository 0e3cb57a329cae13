/** Our part of TensorBoard's address: `#kinetoscope&p.kinetoscope.key=value…`. What is not ours is kept as it is. */

export const PLUGIN = 'kinetoscope';
const PREFIX = `p.${PLUGIN}.`;

function parts(hash: string): string[] {
  return hash.replace(/^#/, '').split('&').filter(Boolean);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function readAddress(hash: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const part of parts(hash)) {
    const equals = part.indexOf('=');
    if (equals > 0 && part.startsWith(PREFIX)) {
      values.set(decode(part.slice(PREFIX.length, equals)), decode(part.slice(equals + 1)));
    }
  }
  return values;
}

/** The same hash with our `values` in it; `null` takes a key out. */
export function writeAddress(hash: string, values: Record<string, string | null>): string {
  const left = new Map(Object.entries(values));
  const result: string[] = [];
  const before = parts(hash);
  if (before.length === 0 || before[0].includes('=')) result.push(PLUGIN);
  for (const part of before) {
    const equals = part.indexOf('=');
    const key = equals > 0 && part.startsWith(PREFIX) ? decode(part.slice(PREFIX.length, equals)) : null;
    if (key === null || !left.has(key)) {
      result.push(part);
      continue;
    }
    const value = left.get(key);
    left.delete(key);
    if (value !== null && value !== undefined) result.push(pair(key, value));
  }
  for (const [key, value] of left) if (value !== null) result.push(pair(key, value));
  return `#${result.join('&')}`;
}

function pair(key: string, value: string): string {
  return `${PREFIX}${encodeURIComponent(key)}=${encodeURIComponent(value)}`;
}

/** Whether TensorBoard shows our tab: an address without a tab's name is the first load, when it may be ours. */
export function isOurs(hash: string): boolean {
  const first = parts(hash)[0];
  return first === undefined || first.includes('=') || first === PLUGIN;
}

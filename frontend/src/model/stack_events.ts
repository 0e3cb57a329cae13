/** From a place in the stacks to an event of it: frames are merged by name, events are not. */

const ADDRESS = / at 0x[0-9a-fA-F]+(?=>)/g;

/** As frames are called: where an object lay in memory is no part of a name. */
export function frameName(event: string): string {
  return event.replace(ADDRESS, '');
}

/**
 * What finds the events of a frame, one of which is known. A quoted text is the whole name; of an object's, the part
 * before its address. Frames of a file begin with its name; a frame that an operator's stack tells is no event.
 */
export function queryOf(frame: string, event: string): string {
  if (event === frame) return `"${frame}"`;
  if (frameName(event) === frame) return frame.replace(/>+$/, '');
  return event.startsWith(`${frame}(`) ? `${frame}(` : `"${event}"`;
}

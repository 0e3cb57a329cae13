/** Host threads by the titles that the stacks are asked for them. */
import { useTable } from './remote';
import { texts } from './tables';

/** Titles, that of the busiest thread first; none until they are known. */
export function useThreads(): string[] {
  const { data } = useTable('threads', {});
  return data ? texts(data, 'thread') : [];
}

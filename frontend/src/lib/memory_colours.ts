/** Colours of memory: fixed by category, by rank for all other groups; hues of the other charts, readable on both papers. */

import { phaseColour } from './colours';

/** Blocks that one phase allocates have its colour. */
const CATEGORY: Record<string, string> = {
  parameter: '#3468b4',
  optimizer_state: phaseColour('optimizer'),
  input: phaseColour('data'),
  gradient: phaseColour('backward'),
  activation: phaseColour('forward'),
  temporary: '#56a8d9',
  autograd_detail: '#cc79a7',
  unknown: '#8d98a4',
};

const RANKED = ['#2c86c4', '#e69f00', '#3a9d7a', '#cc79a7', '#8a63b8', '#d55e00', '#56b4e9', '#c9b820'];
const REST = '#8d98a4';

/** How many groups have a colour of their own. */
export const RANKS = RANKED.length;

/** Colour of a category; one that is not known yet is grey. */
export function categoryColour(category: string): string {
  return Object.hasOwn(CATEGORY, category) ? CATEGORY[category] : REST;
}

/** Colour of a group by its place among all, largest first; grey from the ninth on. */
export function rankColour(rank: number): string {
  return RANKED[rank] ?? REST;
}

export const ALLOCATED = '#2c86c4';
export const RESERVED = '#e69f00';
export const CAPACITY = '#c74a55';

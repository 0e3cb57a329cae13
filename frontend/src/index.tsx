import { serverSource } from './model/server';
import { mount, showFailure } from './mount';

/** TensorBoard calls this once in our frame; a fault here would leave it blank. */
export function render(): void {
  try {
    mount(serverSource());
  } catch (error) {
    showFailure(error);
  }
}

/** The app on made-up data, without Python: `npm run dev`. `?state=…` shows the states that are hard to reach. */
import { mount } from '../src/mount';
import { mockSource } from './mock/source';

mount(mockSource(new URLSearchParams(window.location.search).get('state')));

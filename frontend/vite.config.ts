/// <reference types="vitest/config" />
import { defineConfig } from 'vite';

// The Python build names the plugin's static folder here; alone, the build stays in frontend/dist.
const outDir = process.env.KINETOSCOPE_STATIC || 'dist';

export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    // TensorBoard's content security policy refuses fetches of data: addresses.
    assetsInlineLimit: 0,
    sourcemap: false,
    rolldownOptions: {
      input: 'src/index.tsx',
      // Without it the bundler drops the exported render() and, with it, the app.
      preserveEntrySignatures: 'strict',
      output: { entryFileNames: 'index.js', chunkFileNames: 'assets/[name]-[hash].js' },
    },
  },
  worker: { format: 'es' },
  test: { environment: 'happy-dom', include: ['tests/**/*.test.{ts,tsx}'] },
});

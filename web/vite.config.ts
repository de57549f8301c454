import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

import { oneFile } from './one_file';

export default defineConfig({
  plugins: [svelte(), oneFile()],
  build: { target: 'es2022', modulePreload: false, cssCodeSplit: false, reportCompressedSize: false },
  test: { include: ['test/**/*.test.ts'] },
});

import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** In development, the API comes from a server that runs beside Vite. */
const API = process.env.SHIPLOCK_URL ?? 'http://localhost:8420'

export default defineConfig({
  plugins: [react()],
  build: {
    target: 'es2023',
    sourcemap: false,
    // A strict Content-Security-Policy allows no inlined files in scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // One file compresses better than many, and takes one request.
          groups: [{ name: 'console', tags: ['$initial'] }],
        },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ['/app/api', '/storage/objects', '/log/key'].map((path) => [path, { target: API, changeOrigin: false }]),
    ),
  },
})

#!/usr/bin/env node
// `npx shiplock <command>` from a clone. This file runs on Node 20, too. The program needs Node 24
// to run its TypeScript; what `npm pack` makes of this directory runs the JavaScript of build.mjs.
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const NODE_MAJOR_MIN = 24
const MAIN = new URL('../src/main.ts', import.meta.url)
const BUILT = new URL('../dist/main.mjs', import.meta.url)

// npx changes to the directory of the nearest package. Relative paths refer to the user's directory.
if (process.env.npm_command === 'exec' && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD)

if (process.argv[2] === '--version') {
  console.log(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version)
} else if (!existsSync(MAIN)) {
  await import(BUILT.href)
} else if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN) {
  await import(MAIN.href)
} else {
  const { runOnBundledNode } = await import('./bundled-node.mjs')
  process.exitCode = await runOnBundledNode(fileURLToPath(MAIN), process.argv.slice(2), NODE_MAJOR_MIN)
}

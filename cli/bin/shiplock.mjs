#!/usr/bin/env node
// `npx shiplock <command>`. This file runs on Node 20, too. The program needs Node 24.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const NODE_MAJOR_MIN = 24
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
/** The Node that npm installs with the packages of this repository. */
const BUNDLED = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))

// npx changes to the directory of the nearest package. Relative paths refer to the user's directory.
if (process.env.npm_command === 'exec' && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD)

if (Number.parseInt(process.versions.node, 10) >= NODE_MAJOR_MIN) {
  await import(MAIN)
} else if (existsSync(BUNDLED)) {
  const { status, signal } = spawnSync(BUNDLED, [MAIN, ...process.argv.slice(2)], { stdio: 'inherit' })
  process.exitCode = status ?? 128 + constants.signals[signal]
} else {
  console.error(`shiplock: this needs Node.js ${NODE_MAJOR_MIN}; this is ${process.versions.node}`)
  process.exitCode = 2
}

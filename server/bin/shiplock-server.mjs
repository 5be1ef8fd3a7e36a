#!/usr/bin/env node
// `npx shiplock-server <command>`: the server program. This file runs on Node 20, too. A clone runs
// its TypeScript; the published package contains JavaScript (build.mjs).
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildConsoleBeside } from './build-console.mjs'
import { runProgram } from './supervise.mjs'

const [source, built] = ['../src/main.ts', '../dist/src/main.js'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

/**
 * npx changes to the directory of the nearest package. Relative paths refer to the user's
 * directory.
 */
const cwd = (process.env.npm_command === 'exec' && process.env.INIT_CWD) || process.cwd()

try {
  const args = process.argv.slice(2)
  const stopBuild = buildConsoleBeside(args, process.env)
  process.exitCode = await runProgram(existsSync(source) ? source : built, args, cwd).finally(stopBuild)
} catch (error) {
  console.error(`shiplock-server: ${error.message}`)
  process.exitCode = 1
}

#!/usr/bin/env node
// `npx shiplock-server <command>`: the server program. This file runs on Node 20, too.
import { runProgram } from './supervise.mjs'

/**
 * npx changes to the directory of the nearest package. Relative paths refer to the user's
 * directory.
 */
const cwd = (process.env.npm_command === 'exec' && process.env.INIT_CWD) || process.cwd()

try {
  process.exitCode = await runProgram('server/src/main.ts', process.argv.slice(2), cwd)
} catch (error) {
  console.error(`shiplock-server: ${error.message}`)
  process.exitCode = 1
}

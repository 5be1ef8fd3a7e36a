#!/usr/bin/env node
// `npx shiplock-server <command>`: the server program, on Node 20 too.
import { runProgram } from './supervise.mjs'

/** npx moves to the nearest package first; relative paths belong to where the user stands. */
const cwd = (process.env.npm_command === 'exec' && process.env.INIT_CWD) || process.cwd()

try {
  process.exitCode = await runProgram('server/src/main.ts', process.argv.slice(2), cwd)
} catch (error) {
  console.error(`shiplock-server: ${error.message}`)
  process.exitCode = 1
}

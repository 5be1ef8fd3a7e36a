#!/usr/bin/env node
// `npx shiplock-server <command>`: the server program. This file runs on Node 20, too.
import { buildConsoleBeside } from './build-console.mjs'
import { runProgram } from './supervise.mjs'

/**
 * npx changes to the directory of the nearest package. Relative paths refer to the user's
 * directory.
 */
const cwd = (process.env.npm_command === 'exec' && process.env.INIT_CWD) || process.cwd()

try {
  const args = process.argv.slice(2)
  const stopBuild = buildConsoleBeside(args, process.env)
  process.exitCode = await runProgram('server/src/main.ts', args, cwd).finally(stopBuild)
} catch (error) {
  console.error(`shiplock-server: ${error.message}`)
  process.exitCode = 1
}

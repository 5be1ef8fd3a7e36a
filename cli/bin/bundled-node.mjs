// Runs the program on the Node that npm installs with the packages of this repository.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

const BUNDLED = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
const CANNOT_START = 2

/** Returns the exit code of the program. Signals are passed on to it. */
export async function runOnBundledNode(main, args, majorMin) {
  if (!existsSync(BUNDLED)) {
    console.error(`shiplock: this needs Node.js ${majorMin}; this is ${process.versions.node}`)
    return CANNOT_START
  }
  const child = spawn(BUNDLED, [main, ...args], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
    })
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (status, signal) => resolve(status ?? 128 + constants.signals[signal]))
  })
}

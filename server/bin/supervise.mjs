// Runs a program of this repository, or of the published package, on Node 24. This file itself needs
// only Node 20 and no packages.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The first version with argon2 (`node:crypto`). */
const NODE_MIN = [24, 7]
/** One Ctrl-C arrives more than once: from the terminal, and again from npm. */
const SAME_SIGNAL_MS = 1000
const PARENT_POLL_MS = 200

/** Whether the current Node can run the program. */
export function hasNewNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])
}

/** Returns the current Node if it is new enough, otherwise the one that npm installed here. */
export function findNode() {
  if (hasNewNode()) return process.execPath
  const bundled = nodeModules().find((directory) => existsSync(join(directory, '.bin/node')))
  if (bundled) return join(bundled, '.bin/node')
  throw new Error(
    `this needs Node.js ${NODE_MIN.join('.')} or later. npm installs it with this package; a clone needs "npm ci --ignore-scripts"`,
  )
}

/** Where npm may have installed the packages that this one needs, the nearest first. */
function nodeModules() {
  const directories = [fileURLToPath(new URL('..', import.meta.url))]
  while (dirname(directories.at(-1)) !== directories.at(-1)) directories.push(dirname(directories.at(-1)))
  return directories.map((directory) => join(directory, 'node_modules'))
}

/**
 * Runs a program to its end, forwards signals to it, and returns its exit code. The program has its
 * own session, so that a Ctrl-C reaches it only from here, and once. It is notified when this
 * process ends (stop-with-launcher.mjs).
 */
export async function runProgram(file, args, cwd) {
  const node = findNode()
  const preload = new URL('stop-with-launcher.mjs', import.meta.url).href
  const child = spawn(node, ['--import', preload, resolve(ROOT, file), ...args], {
    cwd,
    detached: true,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, SHIPLOCK_LAUNCHED: '1' },
  })
  forwardSignals(child)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]))
  })
}

function forwardSignals(child) {
  let forwardedAt = Number.NEGATIVE_INFINITY
  const forward = (signal) => {
    if (performance.now() - forwardedAt < SAME_SIGNAL_MS) return
    forwardedAt = performance.now()
    child.kill(signal)
  }
  process.on('SIGINT', forward)
  process.on('SIGTERM', forward)
  process.on('SIGHUP', () => forward('SIGTERM')) // a closed terminal stops the program
  if (process.env.npm_lifecycle_event) whenNpmIsGone(() => forwardedAt > 0 || forward('SIGTERM'))
}

/**
 * A killed npm sends no signal. If it runs this process through a shell, its signals end at the
 * shell.
 */
function whenNpmIsGone(stop) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, PARENT_POLL_MS)
  timer.unref()
}

// Puts a finished build into the place of the one before, so that a server never reads half of one,
// and two builds at the same time do not mix.
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const CONSOLE = join(import.meta.dirname, '..')
const DIST = join(CONSOLE, 'dist')
/** In the same file system as dist, and ignored by git. */
const PREFIX = '.build-'
const TRIES_MAX = 10

/** A directory for a build. It is removed when this process ends before the build is published. */
export function temporaryDirectory() {
  removeAbandoned()
  const directory = join(CONSOLE, PREFIX + process.pid)
  mkdirSync(directory)
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))
  return directory
}

/** Removes what killed builds have left. */
function removeAbandoned() {
  for (const name of readdirSync(CONSOLE)) {
    const pid = Number(new RegExp(`^\\${PREFIX}(\\d+)`).exec(name)?.[1])
    if (pid && !isAlive(pid)) rmSync(join(CONSOLE, name), { recursive: true, force: true })
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** A directory cannot replace another one in one step. Of builds at the same time, the last one stays. */
export function publish(directory) {
  const old = `${directory}-old`
  for (let tries = 1; ; tries += 1) {
    renameIfThere(DIST, old)
    try {
      renameSync(directory, DIST)
      return rmSync(old, { recursive: true, force: true })
    } catch (error) {
      // Another build was published in between.
      if (!['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code) || tries === TRIES_MAX) throw error
      rmSync(old, { recursive: true, force: true })
    }
  }
}

function renameIfThere(from, to) {
  try {
    renameSync(from, to)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
}

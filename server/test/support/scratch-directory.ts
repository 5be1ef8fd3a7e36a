import { readFileSync, statfsSync } from 'node:fs'
import { chmod, mkdtemp } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** A run needs about half of it. */
const BYTES_MIN = 6 * 2 ** 30

/**
 * A directory for all files of a run. It is in memory if there is plenty: tests create and delete
 * hundreds of thousands of files, and ext4 searches long for an inode that was not deleted within
 * the last minutes.
 */
export async function makeScratchDirectory(): Promise<string> {
  const parent = process.env.TMPDIR === undefined && hasRoom() ? MEMORY : tmpdir()
  const directory = await mkdtemp(join(parent, 'shiplock-tests-'))
  // The user that runs PostgreSQL must reach what tests open to it.
  await chmod(directory, 0o711)
  return directory
}

/** Tests also execute files that they have written. */
function hasRoom(): boolean {
  try {
    const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n')
    const [, , type, flags = ''] = mounts.find((line) => line.split(' ')[1] === MEMORY)?.split(' ') ?? []
    if (type !== 'tmpfs' || flags.split(',').includes('noexec')) return false
    const { bavail, bsize } = statfsSync(MEMORY)
    return Math.min(bavail * bsize, freemem()) >= BYTES_MIN
  } catch {
    return false // not Linux
  }
}

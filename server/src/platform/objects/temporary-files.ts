import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoreMissing } from '../files.ts'

const STALE_AFTER_MS = 60 * 60_000

/**
 * The directory of bodies that are not verified yet. Its name starts with a dot, so no key leads to
 * it.
 */
export function incomingDirectory(root: string): string {
  return join(root, '.incoming')
}

/**
 * Removes temporary files that a crash left behind: those not written to for an hour. `root` is the
 * directory of the file store. Returns the number of removed files.
 */
export async function sweepStaleTemporaryFiles(root: string, now: Date): Promise<number> {
  const directory = incomingDirectory(root)
  let removed = 0
  for (const name of (await ignoreMissing(readdir(directory))) ?? []) {
    const file = await ignoreMissing(stat(join(directory, name)))
    if (!file || now.getTime() - file.mtimeMs <= STALE_AFTER_MS) continue
    await rm(join(directory, name), { force: true })
    removed += 1
  }
  return removed
}

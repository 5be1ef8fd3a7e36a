import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoreMissing } from '../files.ts'

const STALE_AFTER_MS = 60 * 60_000

/** Where bodies are written before they have been checked. No object key leads here, because its name starts with a dot. */
export function incomingDirectory(root: string): string {
  return join(root, '.incoming')
}

/**
 * Removes what a crash left half written: temporary files that nothing was written to for an hour.
 * Returns how many there were. `root` is the file store's directory.
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

import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toNullIfMissing } from './files.ts'

const FILE_NAME = 'last-backup'

/** Notes in the data directory that a backup was completed, for `doctor`. */
export async function recordBackup(dataDir: string, at: Date): Promise<void> {
  const path = join(dataDir, FILE_NAME)
  const partial = `${path}.${process.pid}`
  await writeFile(partial, `${at.toISOString()}\n`, { mode: 0o600 })
  await rename(partial, path)
}

/** When the last backup of the data directory was completed; null if there was none. */
export async function readLastBackup(dataDir: string): Promise<Date | null> {
  const text = await toNullIfMissing(readFile(join(dataDir, FILE_NAME), 'utf8'))
  const at = new Date(text?.trim() ?? '')
  return Number.isNaN(at.getTime()) ? null : at
}

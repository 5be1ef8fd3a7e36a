import type { Closing } from './manifest.ts'
import type { OpenBackup } from './open-backup.ts'
import { readContents } from './read-contents.ts'

/**
 * Reads a backup to its end and compares all checksums and counts. Throws `ArchiveError` if it is
 * not as it was written. Objects that were lost before the backup are in the result.
 */
export async function verifyBackup(
  backup: OpenBackup,
  progress: (done: number, total: number) => void,
): Promise<Closing> {
  let done = 0
  const sink = {
    table: (_table: object, rows: AsyncIterable<Uint8Array>) => drain(rows),
    object: (_key: string, _facts: object, bytes: AsyncIterable<Uint8Array>) => drain(bytes),
  }
  return readContents(backup, sink, (bytes) => {
    done += bytes
    progress(done, backup.opening.estimated_bytes)
  })
}

async function drain(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of bytes);
}

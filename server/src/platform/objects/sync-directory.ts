import { open } from 'node:fs/promises'

/** Makes the names in a directory survive a power cut: a synced file whose name was not synced can still be lost. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r')
  await directory.sync()
}

import { open } from 'node:fs/promises'

/** Returns the operation's result, or null if its file does not exist. */
export async function ignoreMissing<Result>(operation: Promise<Result>): Promise<Result | null> {
  try {
    return await operation
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/**
 * Makes the names in a directory durable. A synced file can still be lost in a power cut if its
 * name was not synced.
 */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r')
  await directory.sync()
}

import { unavailable } from '../http/errors.ts'

/** The operation's result, or null where its file does not exist. */
export async function ignoreMissing<Result>(operation: Promise<Result>): Promise<Result | null> {
  try {
    return await operation
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** What the disk refuses (full, read-only, not ours, failing) is a 503, never the caller's mistake nor a path in an answer. */
export function storeFailure(error: unknown): unknown {
  const refusedBySystem = error instanceof Error && 'syscall' in error
  return refusedBySystem ? unavailable(error) : error
}

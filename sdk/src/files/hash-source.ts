import { throttled } from './progress.ts'
import { Sha256 } from './sha256.ts'
import { borrowedChunksOf, type Source } from './source.ts'

export type HashOptions = {
  /** Called with the number of bytes that have been read, at most ten times a second. */
  onProgress?: ((readBytes: number) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Reads the source once and returns its size and SHA-256, with constant memory. */
export async function hashSource(
  source: Source,
  { onProgress, signal }: HashOptions = {},
): Promise<{ size: number; sha256: string }> {
  const { size } = source
  if (source.sha256 !== undefined) return { size, sha256: source.sha256 }
  const hash = source.createHash?.() ?? new Sha256()
  const report = throttled(onProgress, size)
  let readBytes = 0
  report(0)
  for await (const chunk of borrowedChunksOf(source)) {
    signal?.throwIfAborted()
    hash.update(chunk)
    readBytes += chunk.byteLength
    report(readBytes)
  }
  return { size, sha256: hash.hex() }
}

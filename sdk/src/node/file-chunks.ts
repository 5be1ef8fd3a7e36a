import type { FileHandle } from 'node:fs/promises'

const CHUNK_BYTES = 512 * 1024

/**
 * Yields the content of a file. A chunk is only valid until the next one is asked for: two buffers
 * take turns, and one is filled while the other is used. New buffers would take half of the time
 * that sending a large file needs.
 */
export async function* readFileChunks(
  open: () => Promise<FileHandle>,
  size: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const file = await open()
  // One byte more: a small file that has grown is noticed before all that was announced is sent.
  const bytes = Math.min(size + 1, CHUNK_BYTES)
  let [used, filled] = [Buffer.allocUnsafeSlow(bytes), Buffer.allocUnsafeSlow(bytes)]
  let reading = file.read(filled)
  try {
    for (let { bytesRead } = await reading; bytesRead > 0; { bytesRead } = await reading) {
      ;[used, filled] = [filled, used]
      reading = file.read(filled)
      yield used.subarray(0, bytesRead)
    }
  } finally {
    // A buffer must not be freed while it is being filled.
    await reading.catch(() => {})
    await file.close()
  }
}

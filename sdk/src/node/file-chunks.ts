import { open } from 'node:fs/promises'

const CHUNK_BYTES = 512 * 1024

/**
 * Yields the content of a file. A chunk is only valid until the next one is asked for: two buffers
 * take turns, and one is filled while the other is used. New buffers would take half of the time
 * that sending a large file needs.
 */
export async function* readFileChunks(path: string, size: number): AsyncGenerator<Uint8Array, void, undefined> {
  const file = await open(path)
  const bytes = Math.max(1, Math.min(size, CHUNK_BYTES))
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

import type { HashMessage } from './hash-worker.ts'
import { UnreadableFileError } from './upload-failure.ts'

/**
 * The SHA-256 of a file in hexadecimal, computed in a worker. Throws UnreadableFileError if the file
 * cannot be read, or has changed since it was chosen.
 */
export async function hashFile(
  file: File,
  onProgress: (readBytes: number) => void,
  signal: AbortSignal,
): Promise<string> {
  const worker = new Worker(new URL('./hash-worker.ts', import.meta.url), { type: 'module' })
  try {
    return await new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
      worker.onerror = () => reject(new Error('The program that computes checksums could not be loaded.'))
      worker.onmessage = ({ data }: MessageEvent<HashMessage>) => {
        if ('readBytes' in data) onProgress(data.readBytes)
        else if ('sha256' in data) resolve(data.sha256)
        else reject(new UnreadableFileError(data.problem))
      }
      worker.postMessage(file)
    })
  } finally {
    worker.terminate()
  }
}

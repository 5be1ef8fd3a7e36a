import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { IntelError } from './intel-file.ts'

/**
 * Reads a file, and decompresses it if its first bytes are those of gzip (RFC 1952 §2.3.1).
 * Throws IntelError.
 */
export async function* readIntelFile(path: string): AsyncGenerator<Buffer> {
  const isGzip = await startsWith(path, Buffer.from([0x1f, 0x8b]))
  const file = createReadStream(path)
  if (!isGzip) {
    yield* file
    return
  }
  const gunzip = createGunzip()
  file.on('error', (error) => gunzip.destroy(error))
  try {
    yield* file.pipe(gunzip)
  } catch (error) {
    throw isZlibError(error) ? new IntelError(`The file cannot be decompressed: ${error.message}.`) : error
  } finally {
    file.destroy()
  }
}

export async function startsWith(path: string, bytes: Buffer): Promise<boolean> {
  for await (const chunk of createReadStream(path, { end: bytes.length - 1 })) return bytes.equals(chunk)
  return false
}

/** zlib's error codes, such as Z_DATA_ERROR and Z_BUF_ERROR. */
function isZlibError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}

/** Prefixes the message of an IntelError with the file's path. */
export async function namingFile<Result>(path: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    throw error instanceof IntelError ? new IntelError(`${path}: ${error.message}`) : error
  }
}

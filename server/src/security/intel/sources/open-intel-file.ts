import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { IntelError } from '../intel-error.ts'

/** The bytes of a file. One that gzip compressed, which its first bytes tell (RFC 1952 §2.3.1), is decompressed. Throws IntelError. */
export async function* openIntelFile(path: string): AsyncGenerator<Buffer> {
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
    throw isZlibError(error) ? new IntelError(`It cannot be decompressed: ${error.message}.`) : error
  } finally {
    file.destroy()
  }
}

/** Whether a file begins with these bytes. */
export async function startsWith(path: string, bytes: Buffer): Promise<boolean> {
  for await (const chunk of createReadStream(path, { end: bytes.length - 1 })) return bytes.equals(chunk)
  return false
}

/** Its codes are those of zlib.h: Z_DATA_ERROR, Z_BUF_ERROR. */
function isZlibError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}

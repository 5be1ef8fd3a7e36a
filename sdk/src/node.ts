import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Hash, Source } from './files/source.ts'
import { sendByHttp } from './node/send-by-http.ts'

const CHUNK_BYTES = 256 * 1024

/**
 * A file on disk. Its size is read at once: throws the error of the file system, such as ENOENT.
 * Hashing and sending it fail if its size has changed.
 */
export function fileSource(path: string): Source {
  const stats = statSync(path)
  if (!stats.isFile()) throw new Error(`${path} is not a file.`)
  return {
    name: basename(path),
    size: stats.size,
    open: () => createReadStream(path, { highWaterMark: CHUNK_BYTES }),
    createHash: nativeHash,
    send: sendByHttp,
  }
}

function nativeHash(): Hash {
  const hash = createHash('sha256')
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest('hex') }
}

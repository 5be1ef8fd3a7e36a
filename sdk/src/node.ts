import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Hash, Source } from './files/source.ts'
import { readFileChunks } from './node/file-chunks.ts'
import { sendByHttp } from './node/send-by-http.ts'

/**
 * A file on disk. Its size is read at once: throws the error of the file system, such as ENOENT.
 * Hashing and sending it fail if its size has changed.
 */
export function fileSource(path: string): Source {
  const stats = statSync(path)
  if (!stats.isFile()) throw new Error(`${path} is not a file.`)
  const { size } = stats
  return {
    name: basename(path),
    size,
    open: () => createReadStream(path),
    borrow: () => readFileChunks(path, size),
    createHash: nativeHash,
    send: sendByHttp,
  }
}

function nativeHash(): Hash {
  const hash = createHash('sha256')
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest('hex') }
}

import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { type FileHandle, open as openFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Hash, Source } from './files/source.ts'
import { readFileChunks } from './node/file-chunks.ts'
import { sendByHttp } from './node/send-by-http.ts'

/**
 * A file on disk. Its size is read at once: throws the error of the file system, such as ENOENT.
 * Hashing and sending it fail if its size has changed. `open` opens it where more has to hold, such
 * as that it is no link.
 */
export function fileSource(path: string, open: () => Promise<FileHandle> = () => openFile(path)): Source {
  const stats = statSync(path)
  if (!stats.isFile()) throw new Error(`${path} is not a file.`)
  const { size } = stats
  return {
    name: basename(path),
    size,
    open: () => copyChunks(readFileChunks(open, size)),
    borrow: () => readFileChunks(open, size),
    createHash: nativeHash,
    send: sendByHttp,
  }
}

/** Chunks that stay valid. */
async function* copyChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) yield new Uint8Array(chunk)
}

function nativeHash(): Hash {
  const hash = createHash('sha256')
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest('hex') }
}

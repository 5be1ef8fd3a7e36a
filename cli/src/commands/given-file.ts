import { createReadStream } from 'node:fs'
import { UsageError } from '@shiplock/command-line/options'

const BYTES_MAX = 1024 * 1024

/** Reads a small text file. Throws `UsageError` if it cannot be read. */
export async function readGivenFile(path: string): Promise<string> {
  const bytes = await readUpTo(path, BYTES_MAX)
  if (bytes.length > BYTES_MAX) throw new UsageError(`${path} is larger than ${BYTES_MAX} bytes`)
  return bytes.toString()
}

/**
 * Reads a file; `-` is the standard input. Stops reading after `bytesMax`, so that a longer file
 * returns a little more than that. Throws `UsageError` if the file cannot be read.
 */
export async function readUpTo(path: string, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of path === '-' ? process.stdin : createReadStream(path)) {
      chunks.push(chunk)
      size += chunk.length
      if (size > bytesMax) break
    }
  } catch (error) {
    throw new UsageError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`)
  }
  return Buffer.concat(chunks)
}

import type { Answer } from '../http/error-body.ts'

/** The memory that a Blob is read into, piece by piece. */
const BORROWED_BYTES = 1024 * 1024

/** A SHA-256 that is computed piece by piece. */
export type Hash = { update(bytes: Uint8Array): void; hex(): string }

/** One attempt to send a file. */
export type PutRequest = {
  url: string
  /** Sent exactly as they are. */
  headers: Record<string, string>
  source: Source
  /** Called with the number of bytes that have been handed over to the network. */
  onSent(bytes: number): void
  signal: AbortSignal
}

/** Sends a file and returns the answer, whatever its status. Throws if no answer comes. */
export type PutSender = (request: PutRequest) => Promise<Answer>

/** A file to hash and to send. */
export type Source = {
  readonly name: string
  /** In bytes. */
  readonly size: number
  /** Opens the content from its beginning. */
  open(): ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>
  /**
   * Like `open`, but a chunk is only valid until the next one is asked for, so that the source can
   * use its memory again.
   */
  readonly borrow?: () => AsyncIterable<Uint8Array>
  /** The content can be opened only once, so a failed upload is not repeated. */
  readonly isOnce?: boolean
  /** The SHA-256 in lowercase hexadecimal, if it is known. */
  readonly sha256?: string
  /** The content as a Blob, which a browser sends without reading it into memory. */
  readonly blob?: Blob
  /** A faster SHA-256 than the portable one. */
  readonly createHash?: () => Hash
  /** A better way to send the content than `fetch`. */
  readonly send?: PutSender
}

/** A Blob or a File. */
export function blobSource(blob: Blob, name: string): Source {
  return { name, size: blob.size, blob, open: () => blob.stream(), borrow: () => borrowFrom(blob) }
}

/**
 * A stream of known size and checksum. It can be read only once, so a failed upload is not
 * repeated. For a stream of unknown size, use a file or `blobSource(await new
 * Response(stream).blob(), name)`.
 */
export function streamSource(
  stream: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
  known: { name: string; size: number; sha256: string },
): Source {
  let isOpened = false
  const open = () => {
    if (isOpened) throw new Error(`The stream ${known.name} was read before and cannot be read again.`)
    isOpened = true
    return stream
  }
  return { ...known, isOnce: true, open }
}

/** Yields the content. Throws if it does not have the size that the source states. */
export async function* chunksOf(
  source: Source,
  open: Source['open'] = () => source.open(),
): AsyncGenerator<Uint8Array, void, undefined> {
  let read = 0
  for await (const chunk of iterate(open())) {
    read += chunk.byteLength
    if (read > source.size) break
    yield chunk
  }
  if (read !== source.size)
    throw new Error(
      `The file ${source.name} changed while it was read: it does not have ${source.size} bytes any more.`,
    )
}

/** Like `chunksOf`, but a chunk is only valid until the next one is asked for. */
export function borrowedChunksOf(source: Source): AsyncGenerator<Uint8Array, void, undefined> {
  return chunksOf(source, source.borrow)
}

/**
 * The content as one Blob, where a platform cannot stream it. Browsers keep large Blobs on disk.
 */
export async function toBlob(source: Source): Promise<Blob> {
  if (source.blob) return source.blob
  const parts: Blob[] = []
  for await (const chunk of chunksOf(source)) parts.push(new Blob([chunk as Uint8Array<ArrayBuffer>]))
  return new Blob(parts)
}

/** Reads into the same memory again and again, which leaves nothing for the garbage collector. */
async function* borrowFrom(blob: Blob): AsyncGenerator<Uint8Array, void, undefined> {
  const stream = blob.stream()
  const reader = byobReader(stream)
  if (!reader) return yield* iterate(stream)
  try {
    let next = await reader.read(new Uint8Array(BORROWED_BYTES))
    for (; !next.done; next = await reader.read(new Uint8Array(next.value.buffer))) yield next.value
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Not every platform reads a Blob into memory that the caller brings. */
function byobReader(stream: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return stream.getReader({ mode: 'byob' })
  } catch {
    return undefined
  }
}

/** Not every browser can iterate over a ReadableStream. */
async function* iterate(opened: ReturnType<Source['open']>): AsyncGenerator<Uint8Array, void, undefined> {
  if (Symbol.asyncIterator in opened) return yield* opened as AsyncIterable<Uint8Array>
  const reader = (opened as ReadableStream<Uint8Array>).getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    await reader.cancel().catch(() => {})
  }
}

import { once } from 'node:events'
import type { CopyConnection, Query } from './query.ts'

/** An open COPY … FROM STDIN. */
type CopyIn = {
  /** Resolves when PostgreSQL can accept more. */
  write(bytes: string | Uint8Array): Promise<void>
  /** Resolves when PostgreSQL has stored the rows. */
  end(): Promise<void>
  abort(reason: Error): Promise<void>
}

/** Starts a COPY … FROM STDIN. Its connection does nothing else until it has ended. */
export async function openCopyIn(query: Query<object[]>): Promise<CopyIn> {
  const { promise: begun, resolve: begin } = Promise.withResolvers<CopyConnection>()
  query.conversation = { rowsAtOnce: 0, beginCopy: begin }
  const ended = query.then(() => {})
  ended.catch(() => {})
  const connection = await Promise.race([begun, ended.then(() => Promise.reject(new Error('This is no COPY.')))])
  let isEnded = false
  const noteEnd = () => {
    isEnded = true
  }
  ended.then(noteEnd, noteEnd)
  return {
    write: async (bytes) => {
      if (isEnded) return ended
      // Waits for earlier writes only, so that this one is sent while the next rows are prepared.
      if (connection.stream.writableNeedDrain) await Promise.race([once(connection.stream, 'drain'), ended])
      connection.sendCopy(typeof bytes === 'string' ? Buffer.from(bytes) : bytes)
    },
    end: () => {
      connection.endCopy()
      return ended
    },
    abort: async (reason) => {
      if (!isEnded) connection.failCopy(String(reason))
      await ended.catch(() => {})
    },
  }
}

const BLOCK_BYTES = 64 * 1024
const BLOCKS_MAX = 8

/**
 * Reads a COPY … TO STDOUT in blocks. When its reader stops early, cancels the statement; the
 * connection accepts others when that has happened.
 */
export async function* readCopyOut(query: Query<object[]>): AsyncGenerator<Uint8Array> {
  const blocks = new Blocks()
  let connection: CopyConnection | undefined
  query.conversation = {
    rowsAtOnce: 0,
    receiveCopy: (bytes, from) => {
      connection = from
      blocks.add(bytes)
      if (blocks.isFull) from.stream.pause()
    },
  }
  query.then(
    () => blocks.end(null),
    (error: Error) => blocks.end(error),
  )
  let isDone = false
  try {
    for (;;) {
      const block = await blocks.take()
      if (block === null) break
      connection?.stream.resume()
      yield block
    }
    isDone = true
  } finally {
    if (!isDone) {
      blocks.discard()
      connection?.cancel()
      connection?.stream.resume()
    }
  }
}

/** Bytes that have arrived and were not read yet. */
class Blocks {
  #blocks: Buffer[] = []
  #last = Buffer.alloc(0)
  #lastBytes = 0
  #ended: { error: Error | null } | null = null
  #isDiscarding = false
  #arrived = Promise.withResolvers<void>()

  get isFull(): boolean {
    return this.#blocks.length >= BLOCKS_MAX
  }

  /** Copies the bytes, because the parser of pg uses its buffer again. */
  add(bytes: Buffer): void {
    if (this.#isDiscarding) return
    if (this.#lastBytes + bytes.length > this.#last.length) {
      this.#closeLast()
      this.#last = Buffer.allocUnsafe(Math.max(BLOCK_BYTES, bytes.length))
    }
    bytes.copy(this.#last, this.#lastBytes)
    this.#lastBytes += bytes.length
    this.#arrived.resolve()
  }

  #closeLast(): void {
    if (this.#lastBytes > 0) this.#blocks.push(this.#last.subarray(0, this.#lastBytes))
    this.#last = Buffer.alloc(0)
    this.#lastBytes = 0
  }

  end(error: Error | null): void {
    this.#ended = { error }
    this.#arrived.resolve()
  }

  discard(): void {
    this.#isDiscarding = true
    this.#blocks = []
  }

  /** Null at the end. */
  async take(): Promise<Buffer | null> {
    for (;;) {
      if (this.#blocks.length === 0) this.#closeLast()
      const block = this.#blocks.shift()
      if (block !== undefined) return block
      if (this.#ended?.error) throw this.#ended.error
      if (this.#ended) return null
      this.#arrived = Promise.withResolvers()
      await this.#arrived.promise
    }
  }
}

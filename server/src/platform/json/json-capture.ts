const NULL = Buffer.from('null')

/**
 * Collects the bytes of one selected value across chunks. Positions are indexes into the current
 * chunk. A value of more than `bytesMax` is not kept; it is oversize.
 */
export class JsonCapture {
  readonly #bytesMax: number
  #pieces: Buffer[] = []
  #sizeBytes = 0
  /**
   * Where the part that is not yet kept starts in the current chunk; -1 while a member is omitted.
   */
  #from = -1

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  begin(at: number): void {
    this.#pieces = []
    this.#sizeBytes = 0
    this.#from = at
  }

  /** Omits what follows and writes null in its place. */
  pause(chunk: Buffer, at: number): void {
    this.#keep(chunk.subarray(this.#from, at))
    this.#keep(NULL)
    this.#from = -1
  }

  resume(at: number): void {
    this.#from = at
  }

  /** Copies the part of the value in this chunk, because the source may reuse its memory. */
  endOfChunk(chunk: Buffer): void {
    if (this.#from < 0) return
    if (!this.isOversize) this.#keep(Buffer.from(chunk.subarray(this.#from)))
    this.#from = 0
  }

  get isOversize(): boolean {
    return this.#sizeBytes > this.#bytesMax
  }

  /** Returns the JSON text of the value, or null if it was oversize. */
  finish(chunk: Buffer, end: number): string | null {
    if (this.#sizeBytes === 0 && end - this.#from <= this.#bytesMax) return chunk.toString('utf8', this.#from, end)
    this.#keep(chunk.subarray(this.#from, end))
    const text = this.isOversize ? null : Buffer.concat(this.#pieces).toString()
    this.#pieces = []
    return text
  }

  #keep(bytes: Buffer): void {
    this.#sizeBytes += bytes.length
    if (this.isOversize) this.#pieces = []
    else this.#pieces.push(bytes)
  }
}

/** Longer member names are never selected, and are not kept. */
const KEY_BYTES_MAX = 256

const NOT_PLAIN = /[^\x20-\x7e]/

/** Collects the name of an object's member across chunks. */
export class JsonKey {
  #head: Buffer = Buffer.alloc(0)
  #from = -1

  begin(at: number): void {
    this.#from = at
  }

  endOfChunk(chunk: Buffer): void {
    if (this.#from < 0) return
    const bytes = chunk.subarray(this.#from, this.#from + KEY_BYTES_MAX + 1)
    if (this.#head.length <= KEY_BYTES_MAX) this.#head = Buffer.concat([this.#head, bytes])
    this.#from = 0
  }

  /**
   * Returns the name, or null if it is too long or invalid. If `isWanted` is false, the bytes are
   * skipped.
   */
  end(chunk: Buffer, end: number, isWanted: boolean): string | null {
    const from = this.#from
    const head = this.#head
    this.#from = -1
    if (head.length > 0) this.#head = Buffer.alloc(0)
    if (!isWanted || head.length + end - from > KEY_BYTES_MAX) return null
    return unescaped(head.toString('latin1') + chunk.toString('latin1', from, end))
  }
}

function unescaped(latin1: string): string | null {
  const text = NOT_PLAIN.test(latin1) ? Buffer.from(latin1, 'latin1').toString() : latin1
  if (!text.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`)
  } catch {
    return null
  }
}

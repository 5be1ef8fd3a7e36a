const NULL = Buffer.from('null')

/**
 * Collects the bytes of one wanted value while the scanner passes over them, in as many chunks as it takes.
 * Positions are indexes into the chunk at hand. More than `bytesMax` is not kept: the value is then oversize.
 */
export class JsonCapture {
  readonly #bytesMax: number
  #pieces: Buffer[] = []
  #sizeBytes = 0
  /** Where in the current chunk the part not yet kept begins; -1 while a member is left out. */
  #from = -1

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  begin(at: number): void {
    this.#pieces = []
    this.#sizeBytes = 0
    this.#from = at
  }

  /** Leaves out what follows, and writes null in its place. */
  pause(chunk: Buffer, at: number): void {
    this.#keep(chunk.subarray(this.#from, at))
    this.#keep(NULL)
    this.#from = -1
  }

  resume(at: number): void {
    this.#from = at
  }

  /** The chunk is used up; its part of the value is copied, because the source may use its memory again. */
  endOfChunk(chunk: Buffer): void {
    if (this.#from < 0) return
    if (!this.isOversize) this.#keep(Buffer.from(chunk.subarray(this.#from)))
    this.#from = 0
  }

  get isOversize(): boolean {
    return this.#sizeBytes > this.#bytesMax
  }

  /** The JSON text of the value, null when it was larger than allowed. */
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

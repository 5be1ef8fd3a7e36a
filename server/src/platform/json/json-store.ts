/** Each value is preceded by its length in four bytes. */
const LENGTH_BYTES = 4
const CHUNK_BYTES = 1024 * 1024

/**
 * Stores many small JSON values as bytes outside of V8's heap. As objects they would take several
 * times the memory and slow down every garbage collection. Numbers of values increase as they are
 * added.
 */
export class JsonStore {
  readonly #chunks: Buffer[] = []
  #used = CHUNK_BYTES

  /** Returns the number for `get`. Throws RangeError for a value of more than 1 MiB. */
  add(value: unknown): number {
    const text = JSON.stringify(value)
    const sizeBytes = LENGTH_BYTES + Buffer.byteLength(text)
    if (sizeBytes > CHUNK_BYTES) throw new RangeError(`A value of ${sizeBytes} bytes is too large to store.`)
    if (this.#used + sizeBytes > CHUNK_BYTES) this.#addChunk()
    const chunk = this.#chunks.at(-1) as Buffer
    const at = this.#used
    chunk.writeUInt32LE(sizeBytes - LENGTH_BYTES, at)
    chunk.write(text, at + LENGTH_BYTES)
    this.#used += sizeBytes
    return (this.#chunks.length - 1) * CHUNK_BYTES + at
  }

  get(number: number): unknown {
    const chunk = this.#chunks[Math.floor(number / CHUNK_BYTES)] as Buffer
    const at = number % CHUNK_BYTES
    const begin = at + LENGTH_BYTES
    return JSON.parse(chunk.toString('utf8', begin, begin + chunk.readUInt32LE(at)))
  }

  #addChunk(): void {
    this.#chunks.push(Buffer.allocUnsafeSlow(CHUNK_BYTES))
    this.#used = 0
  }
}

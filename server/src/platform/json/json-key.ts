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

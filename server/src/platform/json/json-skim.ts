const GOES_ON = -1

/**
 * Skims the inside of an object or array, looking only at strings and brackets. This is several
 * times faster than the full grammar check, and meant for text that `JSON.parse` will check anyway.
 * It stops at the bracket that closes the container, or that closes one of its elements. Mismatched
 * brackets are left to `JSON.parse`.
 */
export class JsonSkim {
  #open = 0
  #inString = false
  /** The last byte of the previous chunk was a backslash. */
  #isEscaped = false
  #openMax = 0
  #stopsAt = 0

  /** Starts inside one open container. More than `openMax` open containers set `isTooDeep`. */
  begin(openMax: number, stopsAtElements: boolean): void {
    this.#open = 1
    this.#openMax = openMax
    this.#stopsAt = stopsAtElements ? 1 : 0
    this.#inString = false
    this.#isEscaped = false
  }

  /** The container itself is closed, not only an element of it. */
  get isAtEnd(): boolean {
    return this.#open === 0
  }

  get isTooDeep(): boolean {
    return this.#open > this.#openMax
  }

  /**
   * Returns the index of the bracket where it stops or that is too deep; -1 at the end of the
   * chunk.
   */
  push(chunk: Buffer, start: number): number {
    let at = start
    while (at < chunk.length) {
      if (this.#inString) at = this.#string(chunk, at)
      else {
        const end = this.#structure(chunk, at)
        if (end >= 0 && !this.#inString) return end
        at = end < 0 ? chunk.length : end + 1
      }
    }
    return GOES_ON
  }

  /** Advances to the next quote, which starts a string, or to the final bracket. */
  #structure(chunk: Buffer, start: number): number {
    let open = this.#open
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (byte === 0x22) {
        this.#inString = true
        this.#open = open
        return at
      }
      // 0x5b and 0x7b open, 0x5d and 0x7d close: each pair differs in one bit.
      if ((byte | 0x20) === 0x7b) {
        if (++open <= this.#openMax) continue
      } else if ((byte | 0x20) !== 0x7d || --open > this.#stopsAt) {
        continue
      }
      this.#open = open
      return at
    }
    this.#open = open
    return GOES_ON
  }

  /** Returns the index after the closing quote, or the end of the chunk. */
  #string(chunk: Buffer, start: number): number {
    const length = chunk.length
    let at = start
    if (this.#isEscaped) {
      this.#isEscaped = false
      at++
    }
    while (at < length) {
      const byte = chunk[at] as number
      if (byte === 0x22) {
        this.#inString = false
        return at + 1
      }
      at += byte === 0x5c ? 2 : 1
    }
    this.#isEscaped = at > length
    return length
  }
}

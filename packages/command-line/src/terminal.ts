/**
 * Standard error as a terminal: lines that stay, and below them a block of lines that is redrawn in
 * place. Each frame is one write and overwrites the one before, so that nothing flickers.
 */
export class Terminal {
  readonly #stream: NodeJS.WriteStream
  #block: string[] = []

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
  }

  /** The number of characters that fit into a line. The last column would start a new line. */
  get width(): number {
    return (this.#stream.columns || 80) - 1
  }

  /** Writes a line that stays, above the block. */
  writeLine(line: string): void {
    if (this.#block.length === 0) this.#stream.write(`${line}\n`)
    else this.#stream.write(`${this.#toStart()}${line}${CLEAR_LINE}\n${this.#frame(this.#block)}`)
  }

  /** Shows these lines instead of the block. */
  showBlock(lines: string[]): void {
    const start = this.#toStart()
    this.#stream.write(start + this.#frame(lines))
  }

  /** Leaves the block where it is. What follows starts on a new line. */
  keepBlock(): void {
    if (this.#block.length === 0) return
    this.#stream.write(`${this.#toStart()}${this.#frame(this.#block)}\n`)
    this.#block = []
  }

  #frame(lines: string[]): string {
    this.#block = lines.map((line) => line.slice(0, this.width))
    return this.#block.map((line) => `${line}${CLEAR_LINE}`).join('\n') + CLEAR_BELOW
  }

  /** Moves the cursor to the first line of the block. A terminal that became narrower wrapped it. */
  #toStart(): string {
    const columns = this.#stream.columns || 80
    const rows = this.#block.reduce((sum, { length }) => sum + Math.max(1, Math.ceil(length / columns)), 0)
    return rows > 1 ? `\r\x1b[${rows - 1}A` : '\r'
  }
}

const CLEAR_LINE = '\x1b[K'
const CLEAR_BELOW = '\x1b[J'

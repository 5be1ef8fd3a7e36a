import type { ReportedResult } from './reported-result.ts'

/** So many characters from the beginning of the line decide, without spaces and tabs. */
const BLOCK = 100
const FACTOR = 37n
/** A character that stands for the end of the file. */
const END_OF_FILE = 0xffff
const NUL = String.fromCharCode(0)

type Line = { block: string; nth: number }

/**
 * GitHub's `primaryLocationLineHash` for files, as its upload action describes it: the polynomial
 * rolling hash (factor 37, modulo 2^64) of the 100 characters from the beginning of the line, over
 * the following lines, in hexadecimal; then a colon and which line of the file with this hash it
 * is. Spaces and tabs are skipped, CRLF and CR count as LF. Past the end of the file there is one
 * mark and then zeros.
 */
export class LineHashes {
  readonly #lines: Line[]

  constructor(text: string) {
    this.#lines = linesOf(text)
  }

  /** The hash of a line, from 1; null if the file has no such line. */
  at(line: number): string | null {
    const found = this.#lines[line - 1]
    return found === undefined ? null : `${hashOf(found.block).toString(16)}:${found.nth}`
  }
}

/** The hash of a result's line. The action takes line 1 for a result without a region. */
export function lineHashOf(result: ReportedResult, file: LineHashes | null): string | null {
  return result.ownLineHash ?? file?.at(result.startLine ?? 1) ?? null
}

function linesOf(text: string): Line[] {
  const characters = text.replace(/\r\n?/g, '\n').replace(/[ \t]/g, '') + String.fromCharCode(END_OF_FILE)
  const padded = characters + NUL.repeat(BLOCK)
  const seen = new Map<string, number>()
  const lines: Line[] = []
  for (let start = 0; start < characters.length; start = endOfLine(characters, start)) {
    const block = padded.slice(start, start + BLOCK)
    const nth = (seen.get(block) ?? 0) + 1
    seen.set(block, nth)
    lines.push({ block, nth })
  }
  return lines
}

/** Where the next line begins. */
function endOfLine(characters: string, start: number): number {
  const at = characters.indexOf('\n', start)
  return at === -1 ? characters.length : at + 1
}

function hashOf(block: string): bigint {
  let hash = 0n
  for (let index = 0; index < block.length; index++)
    hash = BigInt.asUintN(64, hash * FACTOR + BigInt(block.charCodeAt(index)))
  return hash
}

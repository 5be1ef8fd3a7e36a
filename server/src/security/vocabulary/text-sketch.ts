/**
 * A sketch of a text: 32 bytes in hex by which two versions of the text are compared without
 * storing either. It consists of a hash of the first line (8 digits), a hash of the text around it
 * (8 digits), and a minhash of its runs of three characters (48 digits). Zeros mean "unknown".
 */
export function computeSketch(text: string, surroundings: string | null): string {
  return headHash(text) + (surroundings === null ? UNKNOWN : shortHash(surroundings)) + minhash(text)
}

type TextLikeness = {
  /** The share of common runs of three characters, from 0 to 1. */
  text: number
  /** Both texts have several lines and begin with the same one. */
  sameHead: boolean
  sameSurroundings: boolean
}

/** How alike two sketched texts are. */
export function compareSketches(a: string, b: string): TextLikeness {
  return { text: sharedRuns(a, b), sameHead: sameHash(a, b, 0), sameSurroundings: sameHash(a, b, HASH_DIGITS) }
}

const HASH_DIGITS = 8
const UNKNOWN = '0'.repeat(HASH_DIGITS)
const BINS = 48
/** Longer texts are compared by their beginning. */
const TEXT_MAX = 4000

/** A character as it is compared: 0 for white space, and the same for all quotes. */
function comparedCode(text: string, index: number): number {
  const code = text.charCodeAt(index)
  if (code === SINGLE_QUOTE) return DOUBLE_QUOTE
  return code <= SPACE ? 0 : code
}

const SPACE = 32
const DOUBLE_QUOTE = 34
const SINGLE_QUOTE = 39

/** Only blocks of several lines have a head. */
function headHash(text: string): string {
  const start = text.search(/\S/)
  const end = text.indexOf('\n', start)
  return start === -1 || end === -1 || text.slice(end).trim() === '' ? UNKNOWN : shortHash(text.slice(start, end))
}

/** FNV-1a, never `UNKNOWN`. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < Math.min(text.length, TEXT_MAX); index++) {
    const code = comparedCode(text, index)
    if (code !== 0) hash = Math.imul(hash ^ code, 0x01000193)
  }
  return ((hash | 1) >>> 0).toString(16).padStart(HASH_DIGITS, '0')
}

const NONE = 0xffffffff
const smallest = new Uint32Array(BINS)
const digits = Buffer.alloc(BINS / 2)

/** One permutation hashing: each bin keeps one digit of its smallest hash, 0 if it is empty. */
function minhash(text: string): string {
  smallest.fill(NONE)
  let run = 0
  for (let index = 0; index < Math.min(text.length, TEXT_MAX); index++) {
    const code = comparedCode(text, index)
    if (code === 0) continue
    run = ((run << 10) ^ code) & 0x3fffffff
    const hash = scrambled(run)
    const bin = hash % BINS
    if (hash < (smallest[bin] ?? 0)) smallest[bin] = hash
  }
  for (let bin = 0; bin < BINS; bin += 2) digits[bin / 2] = (getDigit(bin) << 4) | getDigit(bin + 1)
  return digits.toString('hex')
}

function getDigit(bin: number): number {
  const hash = smallest[bin] ?? NONE
  return hash === NONE ? 0 : 1 + (scrambled(hash) % 15)
}

/** The finalizer of MurmurHash3. */
function scrambled(value: number): number {
  let hash = value
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

const EMPTY_BIN = '0'.charCodeAt(0)

function sharedRuns(a: string, b: string): number {
  let shared = 0
  let filled = 0
  for (let index = 2 * HASH_DIGITS; index < 2 * HASH_DIGITS + BINS; index++) {
    const digit = a.charCodeAt(index)
    const other = b.charCodeAt(index)
    if (digit !== EMPTY_BIN || other !== EMPTY_BIN) filled++
    if (digit !== EMPTY_BIN && digit === other) shared++
  }
  return filled === 0 ? 0 : shared / filled
}

/** The number of different runs in a text, up to 48. Short texts have few of them. */
export function countRuns(sketch: string): number {
  let filled = 0
  for (let index = 2 * HASH_DIGITS; index < sketch.length; index++) if (sketch.charCodeAt(index) !== EMPTY_BIN) filled++
  return filled
}

function sameHash(a: string, b: string, from: number): boolean {
  const hash = a.slice(from, from + HASH_DIGITS)
  return hash !== UNKNOWN && hash === b.slice(from, from + HASH_DIGITS)
}

import * as grammar from './json-grammar.ts'
import { JsonError } from './json-grammar.ts'
import type { JsonSelector, JsonType } from './json-selector.ts'
import { JsonSkim } from './json-skim.ts'

// What can come next, as bit flags.
const VALUE = 1
const KEY = 2
const COLON = 4
const COMMA = 8
const CLOSE = 16

// The current token, if any.
const NONE = 0
const STRING_VALUE = 1
const STRING_KEY = 2
const NUMBER = 3
const LITERAL = 4
const SKIM = 5
const BEFORE_SPAN = 6
const SPAN = 7

/** A span of elements ends once it has this size. */
const SPAN_BYTES = 64 * 1024

const LITERAL_TYPES: Record<string, JsonType> = { true: 'boolean', false: 'boolean', null: 'null' }

/**
 * Scans JSON text (RFC 8259) chunk by chunk, checks its grammar, and passes the selector the
 * start and end of each value. Time is linear in the size of the text, and memory is constant.
 * Escapes, UTF-8, and the grammar inside selected values and spans are checked when these are
 * parsed.
 */
export class JsonScanner {
  readonly #selector: JsonSelector
  readonly #depthMax: number
  /** By depth: 1 if the open container is an object. */
  readonly #isObject: Uint8Array
  readonly #skim = new JsonSkim()
  #chunkOffset = 0
  #depth = 0
  #expected = VALUE
  #token = NONE
  /** The last byte of the previous chunk was a backslash. */
  #isEscaped = false
  #numberState = 0
  #literal = ''
  #literalRead = 0

  /** `offset` is the position of the text in a larger one. */
  constructor(selector: JsonSelector, depthMax: number, offset = 0) {
    this.#selector = selector
    this.#chunkOffset = offset
    this.#depthMax = depthMax
    this.#isObject = new Uint8Array(depthMax + 1)
  }

  /** Scans the next chunk of the text. Throws JsonError. */
  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#token === NONE) at = this.#structure(chunk, at)
      else if (this.#token === NUMBER) at = this.#number(chunk, at)
      else if (this.#token === LITERAL) at = this.#word(chunk, at)
      else if (this.#token === SKIM) at = this.#skimmed(chunk, at)
      else if (this.#token === BEFORE_SPAN) at = this.#beforeSpan(chunk, at)
      else if (this.#token === SPAN) at = this.#spanned(chunk, at)
      else at = this.#string(chunk, at)
    }
    this.#selector.endOfChunk(chunk)
    this.#chunkOffset += chunk.length
  }

  /** Ends the text. Throws JsonError if the document is incomplete. */
  end(): void {
    if (this.#token === NUMBER && this.#depth === 0) this.#endNumber(Buffer.alloc(0), 0)
    if (this.#expected === 0 && this.#token === NONE) return
    const isEmpty = this.#expected === VALUE && this.#depth === 0 && this.#token === NONE
    this.#fail(isEmpty ? 'The text is empty' : 'The text ends in the middle of the document', 0)
  }

  #structure(chunk: Buffer, start: number): number {
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at] as number
      switch (grammar.BYTE_CLASS[byte]) {
        case grammar.SPACE:
          break
        case grammar.QUOTE:
          return this.#beginString(chunk, at)
        case grammar.COMMA:
          this.#comma(at)
          if (this.#token !== NONE) return at + 1
          break
        case grammar.COLON:
          this.#expect(COLON, byte, at)
          this.#expected = VALUE
          break
        case grammar.OPEN:
          this.#open(chunk, byte, at)
          if (this.#token !== NONE) return at + 1
          break
        case grammar.CLOSE:
          this.#close(chunk, byte, at)
          break
        case grammar.NUMBER:
          this.#expect(VALUE, byte, at)
          this.#selector.beginValue('number', chunk, at, this.#depth)
          this.#token = NUMBER
          this.#numberState = 0
          return at
        case grammar.LITERAL:
          this.#expect(VALUE, byte, at)
          return this.#beginLiteral(chunk, byte, at)
        default:
          this.#unexpected(byte, at)
      }
    }
    return chunk.length
  }

  #open(chunk: Buffer, byte: number, at: number): void {
    this.#expect(VALUE, byte, at)
    const isObject = byte === 0x7b
    if (this.#depth === this.#depthMax) this.#failTooDeep(at)
    this.#selector.beginValue(isObject ? 'object' : 'array', chunk, at, this.#depth)
    this.#depth++
    this.#isObject[this.#depth] = isObject ? 1 : 0
    this.#expected = isObject ? KEY | CLOSE : VALUE | CLOSE
    if (this.#selector.isSpanned(this.#depth)) this.#token = BEFORE_SPAN
    else if (this.#selector.isSkimmed(this.#depth)) this.#beginSkim(SKIM)
  }

  #beginSkim(token: typeof SKIM | typeof SPAN): void {
    this.#token = token
    this.#skim.begin(this.#depthMax - this.#depth + 1, token === SPAN)
  }

  #skimmed(chunk: Buffer, start: number): number {
    const end = this.#skim.push(chunk, start)
    if (end < 0) return chunk.length
    if (this.#skim.isTooDeep) this.#failTooDeep(end)
    this.#depth--
    this.#endValue(chunk, end + 1)
    return end + 1
  }

  /** Starts a span at an element. Other bytes are handled as usual. */
  #beforeSpan(chunk: Buffer, start: number): number {
    let at = start
    while (at < chunk.length && grammar.BYTE_CLASS[chunk[at] as number] === grammar.SPACE) at++
    if (at === chunk.length) return at
    this.#token = NONE
    if (!grammar.BEGINS_VALUE.has(chunk[at] as number)) return at
    this.#selector.beginSpan(at)
    this.#beginSkim(SPAN)
    return at
  }

  /** Ends a span after an element if it is long enough, or with its array. */
  #spanned(chunk: Buffer, start: number): number {
    const stop = this.#skim.push(chunk, start)
    if (stop < 0) return chunk.length
    if (this.#skim.isTooDeep) this.#failTooDeep(stop)
    const end = this.#skim.isAtEnd ? stop : stop + 1
    if (!this.#skim.isAtEnd && this.#selector.spanBytes(end) < SPAN_BYTES) return end
    this.#selector.endSpan(end)
    this.#token = NONE
    this.#expected = COMMA | CLOSE
    return end
  }

  #close(chunk: Buffer, byte: number, at: number): void {
    this.#expect(CLOSE, byte, at)
    if (this.#isObject[this.#depth] !== (byte === 0x7d ? 1 : 0)) this.#unexpected(byte, at)
    this.#selector.closeContainer(this.#depth)
    this.#depth--
    this.#endValue(chunk, at + 1)
  }

  #comma(at: number): void {
    this.#expect(COMMA, 0x2c, at)
    if (this.#isObject[this.#depth] === 1) {
      this.#expected = KEY
      return
    }
    this.#expected = VALUE
    this.#selector.nextElement(this.#depth)
    if (this.#selector.isSpanned(this.#depth)) this.#token = BEFORE_SPAN
  }

  #beginString(chunk: Buffer, at: number): number {
    if ((this.#expected & KEY) !== 0) {
      this.#token = STRING_KEY
      this.#selector.beginKey(at + 1)
      return at + 1
    }
    this.#expect(VALUE, 0x22, at)
    this.#token = STRING_VALUE
    this.#selector.beginValue('string', chunk, at, this.#depth)
    return at + 1
  }

  #string(chunk: Buffer, start: number): number {
    const length = chunk.length
    let at = start
    if (this.#isEscaped) {
      this.#isEscaped = false
      at++
    }
    while (at < length) {
      const byte = chunk[at] as number
      if (byte === 0x22) return this.#endString(chunk, at)
      if (byte === 0x5c) at += 2
      else if (byte < 0x20) this.#fail('A string contains an unescaped control character', at)
      else at++
    }
    this.#isEscaped = at > length
    return length
  }

  #endString(chunk: Buffer, at: number): number {
    if (this.#token === STRING_KEY) {
      this.#token = NONE
      this.#expected = COLON
      this.#selector.endKey(chunk, at, this.#depth)
    } else {
      this.#endValue(chunk, at + 1)
    }
    return at + 1
  }

  #number(chunk: Buffer, start: number): number {
    let state = this.#numberState
    for (let at = start; at < chunk.length; at++) {
      const next = grammar.getNextNumberState(state, chunk[at] as number)
      if (next === 0) {
        this.#numberState = state
        this.#endNumber(chunk, at)
        return at
      }
      state = next
    }
    this.#numberState = state
    return chunk.length
  }

  #endNumber(chunk: Buffer, end: number): void {
    if (!grammar.canNumberEnd(this.#numberState)) this.#fail('A number is malformed', end)
    this.#endValue(chunk, end)
  }

  #beginLiteral(chunk: Buffer, byte: number, at: number): number {
    this.#literal = grammar.LITERALS.get(byte) as string
    this.#literalRead = 0
    this.#token = LITERAL
    this.#selector.beginValue(LITERAL_TYPES[this.#literal] as JsonType, chunk, at, this.#depth)
    return at
  }

  #word(chunk: Buffer, start: number): number {
    let at = start
    while (at < chunk.length && this.#literalRead < this.#literal.length) {
      const byte = chunk[at] as number
      if (byte !== this.#literal.charCodeAt(this.#literalRead)) this.#unexpected(byte, at)
      this.#literalRead++
      at++
    }
    if (this.#literalRead === this.#literal.length) this.#endValue(chunk, at)
    return at
  }

  #endValue(chunk: Buffer, end: number): void {
    this.#token = NONE
    this.#expected = this.#depth === 0 ? 0 : COMMA | CLOSE
    this.#selector.endValue(chunk, end, this.#depth)
  }

  #expect(what: number, byte: number, at: number): void {
    if ((this.#expected & what) === 0) this.#unexpected(byte, at)
  }

  #unexpected(byte: number, at: number): never {
    const shown =
      byte > 0x20 && byte < 0x7f ? `"${String.fromCharCode(byte)}"` : `byte 0x${byte.toString(16).padStart(2, '0')}`
    const where = this.#expected === 0 ? 'after the end of the document' : 'where the JSON grammar does not allow it'
    return this.#fail(`Unexpected ${shown} ${where}`, at)
  }

  #failTooDeep(at: number): never {
    return this.#fail(`The document is nested too deeply (over ${this.#depthMax} levels)`, at)
  }

  #fail(reason: string, at: number): never {
    throw new JsonError(reason, this.#chunkOffset + at)
  }
}

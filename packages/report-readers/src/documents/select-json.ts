import { ReportFileError, readText } from '../file-text.ts'
import type { FoundFile } from '../found-file.ts'

/**
 * A selected value. `path` is the selection that matched, such as `runs[].results[]`; `indexes` are
 * the positions in its arrays.
 */
export type Selected = { path: string; indexes: number[]; value: unknown }

const VALUE_LENGTH_MAX = 64 * 1024 * 1024
const DEPTH_MAX = 10_000

/**
 * Reads the selected values of a JSON file of any size. Memory does not grow with the file, but with
 * its largest selected value. A selection that ends in `:type` yields `object`, `array` or `scalar`
 * when the value begins. What is not selected is read only roughly. Throws ReportFileError.
 */
export async function* selectJson(file: FoundFile, selections: readonly string[]): AsyncGenerator<Selected> {
  const scanner = new JsonScanner(file.path, new Set(selections))
  for await (const chunk of readText(file)) yield* scanner.write(chunk)
  scanner.end()
}

/** An open object or array. */
type Container = {
  isArray: boolean
  /** The path of the container; null below all selections. */
  path: string | null
  /** The key of the current member, or the index of the current element. */
  at: string | number
  expectsKey: boolean
}

const [NEW_LINE, COMMA, QUOTE, BACKSLASH] = [0x0a, 0x2c, 0x22, 0x5c]
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d]
/** White space, `,`, `:` and the ends of objects and arrays. */
const ENDS_SCALAR = new Set([0x20, 0x09, 0x0d, NEW_LINE, COMMA, 0x3a, CLOSE_OBJECT, CLOSE_ARRAY])

class JsonScanner {
  readonly #file: string
  readonly #selections: Set<string>
  /** No path below the longest selection is needed. */
  readonly #depthMax: number
  readonly #open: Container[] = []
  #found: Selected[] = []
  #line = 1
  #hasValue = false
  #inString = false
  #isEscaped = false
  #inScalar = false
  /** True while the string is the key of a member. */
  #isKey = false
  /** The text of the captured value or key before this chunk, and where it begins in the chunk. */
  #text = ''
  #from = -1
  /** The depth and path of the captured value; null if nothing is captured. */
  #capture: { depth: number; path: string } | null = null

  constructor(file: string, selections: Set<string>) {
    this.#file = file
    this.#selections = selections
    this.#depthMax = Math.max(...[...selections].map((selection) => selection.split(/\.|\[/).length))
  }

  write(chunk: string): Selected[] {
    this.#found = []
    for (let at = 0; at < chunk.length; at++) {
      const code = chunk.charCodeAt(at)
      if (this.#inString) this.#readInString(code, chunk, at)
      else this.#readOutside(code, chunk, at)
    }
    this.#carry(chunk)
    return this.#found
  }

  end(): void {
    if (this.#open.length > 0 || this.#inString) this.#refuse('the file ends in the middle of its JSON')
  }

  #readInString(code: number, chunk: string, at: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (code === BACKSLASH) this.#isEscaped = true
    else if (code === QUOTE) this.#endString(chunk, at)
    else if (code < 0x20) this.#refuse('the file is not valid JSON: a string contains an unescaped control character')
  }

  #readOutside(code: number, chunk: string, at: number): void {
    if (!ENDS_SCALAR.has(code)) {
      if (code === QUOTE) this.#beginString(at)
      else if (code === OPEN_OBJECT || code === OPEN_ARRAY) this.#beginContainer(code === OPEN_ARRAY, at)
      else if (!this.#inScalar) this.#beginScalar(at)
      return
    }
    this.#endScalar(chunk, at)
    if (code === NEW_LINE) this.#line++
    else if (code === COMMA) this.#next()
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) this.#endContainer(code === CLOSE_ARRAY, chunk, at)
  }

  #beginString(at: number): void {
    const container = this.#open.at(-1)
    this.#isKey = container?.expectsKey ?? false
    this.#inString = true
    if (!this.#isKey) this.#begin('scalar', at)
    else if (this.#capture === null) this.#from = at
  }

  #endString(chunk: string, at: number): void {
    this.#inString = false
    if (this.#isKey) this.#endKey(chunk, at)
    else this.#end(chunk, at + 1)
  }

  #endKey(chunk: string, at: number): void {
    const container = this.#open.at(-1) as Container
    container.expectsKey = false
    if (this.#capture !== null) return
    container.at = container.path === null ? '' : String(this.#parse(this.#text + chunk.slice(this.#from, at + 1)))
    this.#text = ''
    this.#from = -1
  }

  #beginScalar(at: number): void {
    this.#inScalar = true
    this.#begin('scalar', at)
  }

  #endScalar(chunk: string, at: number): void {
    if (!this.#inScalar) return
    this.#inScalar = false
    this.#end(chunk, at)
  }

  #beginContainer(isArray: boolean, at: number): void {
    const path = this.#begin(isArray ? 'array' : 'object', at)
    if (this.#open.length >= DEPTH_MAX) this.#refuse('its JSON is nested too deeply')
    this.#open.push({ isArray, path, at: isArray ? 0 : '', expectsKey: !isArray })
  }

  #endContainer(isArray: boolean, chunk: string, at: number): void {
    if (this.#open.pop()?.isArray !== isArray) this.#refuse(`expected JSON, found ${isArray ? ']' : '}'}`)
    this.#end(chunk, at + 1)
  }

  #next(): void {
    const container = this.#open.at(-1)
    if (container === undefined) this.#refuse('expected one JSON value, found several')
    else if (container.isArray) container.at = (container.at as number) + 1
    else container.expectsKey = true
  }

  /** Begins a value. Returns its path; null if nothing below it can be selected. */
  #begin(type: string, at: number): string | null {
    if (this.#open.length === 0 && this.#hasValue) this.#refuse('expected one JSON value, found several')
    this.#hasValue = true
    if (this.#capture !== null) return null
    const path = this.#pathOfValue()
    if (path === null) return null
    if (this.#selections.has(`${path}:type`)) this.#emit(`${path}:type`, type)
    if (!this.#selections.has(path)) return path
    this.#capture = { depth: this.#open.length, path }
    this.#from = at
    return null
  }

  /** Ends the value that began at this depth. */
  #end(chunk: string, end: number): void {
    if (this.#capture?.depth !== this.#open.length) return
    const { path } = this.#capture
    const text = this.#text + chunk.slice(this.#from, end)
    this.#capture = null
    this.#text = ''
    this.#from = -1
    this.#emit(path, this.#parse(text))
  }

  #emit(path: string, value: unknown): void {
    const indexes = this.#open.filter(({ isArray }) => isArray).map(({ at }) => at as number)
    this.#found.push({ path, indexes, value })
  }

  #pathOfValue(): string | null {
    const container = this.#open.at(-1)
    if (container === undefined) return ''
    if (container.path === null || this.#open.length > this.#depthMax) return null
    if (container.isArray) return `${container.path}[]`
    return container.path === '' ? String(container.at) : `${container.path}.${container.at}`
  }

  #carry(chunk: string): void {
    if (this.#from < 0) return
    this.#text += chunk.slice(this.#from)
    this.#from = 0
    if (this.#text.length > VALUE_LENGTH_MAX) this.#refuse('a value in it is longer than 64 MiB')
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text)
    } catch (error) {
      return this.#refuse(`the file is not valid JSON: ${(error as Error).message}`)
    }
  }

  #refuse(message: string): never {
    throw new ReportFileError({ path: this.#file, line: this.#line }, message)
  }
}

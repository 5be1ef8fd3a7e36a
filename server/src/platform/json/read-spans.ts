import { JsonError } from './json-grammar.ts'
import { JsonScanner } from './json-scanner.ts'
import { createSelectionTree, type JsonSpan } from './json-selection.ts'
import { JsonSelector, type SelectedValue } from './json-selector.ts'
import { DEFAULT_LIMITS, decodeText, type JsonLimits, parseJson } from './select-json.ts'

/**
 * A longer span is a large element, or many that are not objects. It is read element by element.
 */
const WHOLE_SPAN_BYTES = 256 * 1024
const OPEN = Buffer.from('[')
const CLOSE = Buffer.from(']')

export type Element = Pick<SelectedValue, 'value' | 'isOversize'>
type SpanElements<T> = { span: T; elements: Element[] }

/**
 * Reads the elements whose spans `selectJson` found. The text between them is not looked at.
 * `omitted` lists members of an element that may be read as null. Throws JsonError if an element is
 * not JSON.
 */
export async function* readSpans<T extends JsonSpan>(
  source: AsyncIterable<Uint8Array>,
  spans: readonly T[],
  omitted: readonly string[],
  limits: JsonLimits = DEFAULT_LIMITS,
): AsyncGenerator<SpanElements<T>> {
  const memory = Buffer.allocUnsafe(OPEN.length + WHOLE_SPAN_BYTES + CLOSE.length)
  let reader: WholeSpan | LargeSpan | null = null
  for await (const { span, bytes, isLast } of cutSpans(decodeText(source), spans)) {
    const isLarge = span.to - span.from > WHOLE_SPAN_BYTES
    reader ??= isLarge ? new LargeSpan(span, omitted, limits) : new WholeSpan(span, memory, limits)
    reader.push(bytes)
    const elements = isLast ? reader.end() : reader.take()
    if (isLast) reader = null
    if (elements.length > 0) yield { span, elements }
  }
}

/** Parses a whole span as one array. All spans use the same `memory` for their text. */
class WholeSpan {
  readonly #limits: JsonLimits
  readonly #offset: number
  readonly #text: Buffer
  #length: number

  constructor({ from }: JsonSpan, memory: Buffer, limits: JsonLimits) {
    this.#limits = limits
    this.#offset = from - OPEN.length
    this.#text = memory
    this.#length = OPEN.copy(this.#text)
  }

  push(bytes: Buffer): void {
    this.#length += bytes.copy(this.#text, this.#length)
  }

  take(): Element[] {
    return []
  }

  end(): Element[] {
    this.push(CLOSE)
    const values = parseJson(
      this.#text.toString('utf8', 0, this.#length),
      this.#offset,
      this.#limits.depthMax,
    ) as unknown[]
    return values.map((value) => ({ value, isOversize: false }))
  }
}

class LargeSpan {
  readonly #selector: JsonSelector
  readonly #scanner: JsonScanner

  constructor({ from }: JsonSpan, omitted: readonly string[], { depthMax, valueBytesMax }: JsonLimits) {
    const parse = (text: string, offset: number) => parseJson(text, offset, depthMax)
    const options = { valueBytesMax, parse, isRestSkimmed: false }
    this.#selector = new JsonSelector(createSelectionTree(['[*]'], { '[*]': omitted }), options)
    this.#scanner = new JsonScanner(this.#selector, depthMax, from - OPEN.length)
    this.push(OPEN)
  }

  push(bytes: Buffer): void {
    this.#scanner.push(bytes)
  }

  take(): Element[] {
    return this.#selector.take()
  }

  end(): Element[] {
    this.push(CLOSE)
    this.#scanner.end()
    return this.take()
  }
}

type SpanPiece<T extends JsonSpan> = { span: T; bytes: Buffer; isLast: boolean }

/**
 * Yields the spans of a text, piece by piece. They must be in its order. Throws JsonError if it
 * ends early.
 */
async function* cutSpans<T extends JsonSpan>(
  text: AsyncIterable<Buffer>,
  spans: readonly T[],
): AsyncGenerator<SpanPiece<T>> {
  let offset = 0
  let next = 0
  for await (const chunk of text) {
    const end = offset + chunk.length
    for (let span = spans[next]; span !== undefined && span.from < end; span = spans[next]) {
      const isLast = span.to <= end
      yield { span, bytes: chunk.subarray(Math.max(span.from - offset, 0), span.to - offset), isLast }
      if (!isLast) break
      next++
    }
    if (next === spans.length) return
    offset = end
  }
  if (next < spans.length) throw new JsonError('The text ends in the middle of the document', offset)
}

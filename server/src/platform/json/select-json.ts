import { decodeText } from './decode-text.ts'
import { JsonError } from './json-error.ts'
import { JsonScanner } from './json-scanner.ts'
import { type SelectionNode, selectionTree } from './json-selection.ts'
import { JsonSelector, type SelectedValue } from './json-selector.ts'

export type JsonLimits = {
  /** Open objects and arrays at a time; more is an error. */
  depthMax: number
  /** Size of one selected value's text; a larger one is handed out as oversize. */
  valueBytesMax: number
  /** Faster: what is not selected is passed over without a check of its grammar. For a file that is read again in full. */
  isRestSkimmed?: boolean
}

export const DEFAULT_LIMITS: JsonLimits = { depthMax: 512, valueBytesMax: 8 * 1024 * 1024 }
/** For a first look at a file. */
export const FIRST_LOOK: JsonLimits = { ...DEFAULT_LIMITS, isRestSkimmed: true }

/**
 * Reads a JSON file of any size and yields the selected values in document order, in batches: those that ended in one
 * piece of the file. The next piece is read when the next batch is asked for. Throws JsonError, at the latest at the end,
 * when the file is not one whole JSON document.
 */
export async function* selectJson(
  source: AsyncIterable<Uint8Array>,
  selection: SelectionNode,
  limits: JsonLimits = DEFAULT_LIMITS,
): AsyncGenerator<SelectedValue[]> {
  const { valueBytesMax, isRestSkimmed = false } = limits
  const parse = (text: string, offset: number) => parseJson(text, offset, limits.depthMax)
  const selector = new JsonSelector(selection, { valueBytesMax, parse, isRestSkimmed })
  const scanner = new JsonScanner(selector, limits.depthMax)
  for await (const chunk of decodeText(source)) {
    try {
      scanner.push(chunk)
    } finally {
      // What ended before an error is handed out before it: the reader may know more about the file by then.
      const selected = selector.take()
      if (selected.length > 0) yield selected
    }
  }
  scanner.end()
  const last = selector.take()
  if (last.length > 0) yield last
}

const NOTHING = selectionTree([])

/**
 * The value of a text that stands at `offset` in its document. Where it is not JSON, a second look tells what is wrong, and
 * where: throws JsonError.
 */
export function parseJson(text: string, offset: number, depthMax: number): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const selector = new JsonSelector(NOTHING, { valueBytesMax: 0, parse: () => {}, isRestSkimmed: false })
    const scanner = new JsonScanner(selector, depthMax, offset)
    scanner.push(Buffer.from(text))
    scanner.end()
    throw new JsonError('A string has an invalid escape', offset)
  }
}

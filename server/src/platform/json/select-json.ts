import { decodeText } from './decode-text.ts'
import { JsonError } from './json-error.ts'
import { JsonScanner } from './json-scanner.ts'
import { createSelectionTree, type SelectionNode } from './json-selection.ts'
import { JsonSelector, type SelectedValue } from './json-selector.ts'

export type JsonLimits = {
  /** Maximum number of nested objects and arrays. More is an error. */
  depthMax: number
  /** Maximum size of one selected value's text. A larger value is returned as oversize. */
  valueBytesMax: number
  /**
   * Skips the grammar check of what is not selected. For a file that is read in full again later.
   */
  isRestSkimmed?: boolean
}

export const DEFAULT_LIMITS: JsonLimits = { depthMax: 512, valueBytesMax: 8 * 1024 * 1024 }
/** Limits for a first look at a file. */
export const FIRST_LOOK: JsonLimits = { ...DEFAULT_LIMITS, isRestSkimmed: true }

/**
 * Reads a JSON file of any size and yields the selected values in document order. A batch contains
 * the values that ended in one piece of the file; the next piece is read on demand. Throws
 * JsonError, at the latest at the end, if the file is not one complete JSON document.
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
      // Values before an error are yielded first: they may tell the reader more about the file.
      const selected = selector.take()
      if (selected.length > 0) yield selected
    }
  }
  scanner.end()
  const last = selector.take()
  if (last.length > 0) yield last
}

const NOTHING = createSelectionTree([])

/**
 * Parses a text at `offset` of its document. If it is not JSON, a second pass finds the mistake and
 * its position. Throws JsonError.
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

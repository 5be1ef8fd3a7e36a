import { JsonError } from './json-error.ts'
import { JsonScanner } from './json-scanner.ts'
import { selectionTree } from './json-selection.ts'
import { JsonSelector } from './json-selector.ts'

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

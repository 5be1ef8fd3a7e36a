import { JsonError } from './json-grammar.ts'
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

/**
 * The size of one piece. A large buffer of the caller is split, so that it does not block the event
 * loop.
 */
const PIECE_BYTES = 64 * 1024

type Encoding = { name: 'utf-8' | 'utf-16le' | 'utf-16be'; markBytes: number }

/**
 * Converts the bytes of a text file to UTF-8 without a byte order mark, piece by piece. UTF-16 is
 * recognized by its byte order mark (RFC 2781 §3.2). Everything else is passed through as UTF-8.
 */
export async function* decodeText(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let head: Buffer = Buffer.alloc(0)
  let decode: ((piece: Buffer) => Buffer) | null = null
  for await (const chunk of source) {
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    if (decode === null) {
      head = head.length === 0 ? bytes : Buffer.concat([head, bytes])
      if (head.length < 3) continue
      const encoding = getEncoding(head)
      decode = decoder(encoding)
      bytes = head.subarray(encoding.markBytes)
    }
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield decode(bytes.subarray(at, at + PIECE_BYTES))
  }
  // A file of one or two bytes was too short for the decision above.
  if (decode === null) yield head.subarray(getEncoding(head).markBytes)
}

function getEncoding(head: Buffer): Encoding {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { name: 'utf-8', markBytes: 3 }
  if (head[0] === 0xff && head[1] === 0xfe) return { name: 'utf-16le', markBytes: 2 }
  if (head[0] === 0xfe && head[1] === 0xff) return { name: 'utf-16be', markBytes: 2 }
  return { name: 'utf-8', markBytes: 0 }
}

function decoder({ name }: Encoding): (piece: Buffer) => Buffer {
  if (name === 'utf-8') return (piece) => piece
  const utf16 = new TextDecoder(name)
  return (piece) => Buffer.from(utf16.decode(piece, { stream: true }))
}

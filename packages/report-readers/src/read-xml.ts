import { SaxesParser } from 'saxes'
import { ReportFileError, readText } from './file-text.ts'
import type { FoundFile } from './found-file.ts'
import { ReferenceRepair } from './xml-references.ts'

export type XmlAttributes = Record<string, string>

/** Receives a document. Names have no prefix. `depth` is 0 for the root element. */
export type XmlReader = {
  open(name: string, attributes: XmlAttributes, depth: number): void
  close?(name: string, depth: number): void
  /** Text and CDATA, in pieces. */
  text?(text: string): void
}

/** Returns the reader of a document by its root element, or a sentence that refuses the file. */
type ReaderOf<Reader extends XmlReader> = (root: string, attributes: XmlAttributes) => Reader | string

/** More of one text, comment or attribute is not kept. */
const TEXT_MAX = 64 * 1024
/** The specification of XML forbids these characters, but tools write the output of tests unchanged. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g
/** Errors after which the document still has one meaning. */
const TOLERATED = /disallowed character\.|character entity|XML declaration|malformed comment/
const DEPTH_MAX = 1000

/**
 * Reads an XML file of any size in one pass, with constant memory. Document types are skipped, and
 * entities are never expanded. Returns the reader, and adds to `warnings` what was not well-formed
 * but could be read. Throws ReportFileError with the line.
 */
export async function readXml<Reader extends XmlReader>(
  file: FoundFile,
  readerOf: ReaderOf<Reader>,
  warnings: string[],
): Promise<Reader> {
  const pass = new XmlPass(file.path, readerOf)
  for await (const chunk of readText(file)) pass.write(chunk)
  const reader = pass.end()
  if (pass.repaired !== null) warnings.push(`${file.path}:${pass.repaired}`)
  return reader
}

class XmlPass<Reader extends XmlReader> {
  readonly #path: string
  readonly #readerOf: ReaderOf<Reader>
  readonly #parser = new SaxesParser()
  readonly #references = new ReferenceRepair()
  #reader: Reader | undefined
  #depth = 0

  constructor(path: string, readerOf: ReaderOf<Reader>) {
    this.#path = path
    this.#readerOf = readerOf
    this.#parser.on('error', (error) => this.#fail(error))
    this.#parser.on('opentag', ({ name, attributes }) => this.#open(localName(name), attributes))
    this.#parser.on('closetag', ({ name }) => {
      this.#depth--
      this.#reader?.close?.(localName(name), this.#depth)
    })
    this.#parser.on('text', (text) => this.#reader?.text?.(text))
    this.#parser.on('cdata', (text) => this.#reader?.text?.(text))
  }

  write(chunk: string): void {
    this.#parse(this.#references.write(chunk.replace(FORBIDDEN, '\ufffd')))
  }

  #parse(text: string): void {
    this.#parser.write(text)
    // The parser collects a text, comment or attribute until its end, however long it is.
    const collecting = this.#parser as unknown as { text: string }
    if (collecting.text.length > TEXT_MAX) collecting.text = collecting.text.slice(0, TEXT_MAX)
  }

  /** The parser refuses a document without a root element. */
  end(): Reader {
    this.#parse(this.#references.end())
    this.#parser.close()
    return this.#reader as Reader
  }

  get repaired(): string | null {
    return this.#references.describe()
  }

  #open(name: string, attributes: XmlAttributes): void {
    if (this.#reader === undefined) {
      const accepted = this.#readerOf(name, attributes)
      if (typeof accepted === 'string') throw this.#error(accepted)
      this.#reader = accepted
    }
    if (this.#depth > DEPTH_MAX) throw this.#error(`elements are nested deeper than ${DEPTH_MAX} levels`)
    this.#reader.open(name, attributes, this.#depth)
    this.#depth++
  }

  #fail(error: Error): void {
    const message = error.message.replace(/^\d+:\d+: /, '')
    if (TOLERATED.test(message)) return
    const unclosed = /^unclosed tag: (.+)$/.exec(message)?.[1]
    if (unclosed !== undefined) throw this.#error(`the file ends before </${unclosed}>`)
    throw this.#error(`the file is not valid XML: ${message.replace(/\.$/, '')}`)
  }

  #error(message: string): ReportFileError {
    return new ReportFileError({ path: this.#path, line: this.#parser.line }, message)
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

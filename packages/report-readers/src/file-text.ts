import { TextDecoder } from 'node:util'
import type { FoundFile } from './found-file.ts'

/** A file that cannot be read as a report. The message starts with the path and, if known, the line. */
export class ReportFileError extends Error {
  constructor({ path, line }: { path: string; line?: number | undefined }, message: string) {
    super(`${path}${line === undefined ? '' : `:${line}`}: ${message}`)
    this.name = 'ReportFileError'
  }
}

const CHUNK_BYTES = 64 * 1024

/**
 * Reads a text file in chunks. The encoding is that of the byte order mark, else the one that an XML
 * declaration names, else UTF-8. Invalid bytes become U+FFFD. Throws ReportFileError if the file
 * cannot be read or is empty.
 */
export async function* readText(file: FoundFile): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined
  let isEmpty = true
  for await (const bytes of readBytes(file)) {
    decoder ??= new TextDecoder(encodingOf(bytes))
    const text = decoder.decode(bytes, { stream: true })
    isEmpty &&= text.trim() === ''
    if (text !== '') yield text
  }
  if (isEmpty) throw new ReportFileError(file, 'the file is empty')
  const rest = decoder?.decode() ?? ''
  if (rest !== '') yield rest
}

async function* readBytes(file: FoundFile): AsyncGenerator<Buffer> {
  try {
    const handle = await file.open()
    for await (const bytes of handle.createReadStream({ highWaterMark: CHUNK_BYTES })) yield bytes as Buffer
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === undefined ? error : new ReportFileError(file, `the file cannot be read (${code})`)
  }
}

const DECLARED = /^<\?xml[^>]{0,100}?\sencoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']/

function encodingOf(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  if (bytes[0] === 0x3c && bytes[1] === 0) return 'utf-16le'
  if (bytes[0] === 0 && bytes[1] === 0x3c) return 'utf-16be'
  const [, declared = 'utf-8'] = DECLARED.exec(bytes.toString('latin1', 0, 200).trimStart()) ?? []
  return isByteEncoding(declared) ? declared : 'utf-8'
}

/** False for an unknown name, and for UTF-16: .NET declares it in files that are written as UTF-8. */
function isByteEncoding(name: string): boolean {
  try {
    return !new TextDecoder(name).encoding.startsWith('utf-16')
  } catch {
    return false
  }
}

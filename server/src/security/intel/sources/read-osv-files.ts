import { createReadStream } from 'node:fs'
import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { IntelError } from '../intel-error.ts'
import { startsWith } from './open-intel-file.ts'
import { readAhead } from './read-ahead.ts'

/** The text of one OSV record, and where it stands. */
export type OsvFile = { place: string; text: string }

const RECORD_BYTES_MAX = 32 * 1024 * 1024
const ENTRIES_MAX = 5_000_000
/** The local header that a zip file begins with (APPNOTE.TXT §4.3.7). */
const ZIP_START = Buffer.from([0x50, 0x4b, 0x03, 0x04])

/** Every OSV record at a path: one file, a directory's, or those of a zip file, one after the other. Throws IntelError. */
export async function* readOsvFiles(path: string): AsyncGenerator<OsvFile> {
  if ((await stat(path)).isDirectory()) yield* readDirectory(path)
  else if (await startsWith(path, ZIP_START)) yield* readZip(path)
  else yield await readRecordFile(path)
}

async function* readDirectory(path: string): AsyncGenerator<OsvFile> {
  yield* readAhead(recordPaths(path), readRecordFile)
}

async function* recordPaths(directory: string): AsyncGenerator<string> {
  for await (const entry of await opendir(directory, { recursive: true })) {
    if (entry.isFile() && isRecordName(entry.name)) yield join(entry.parentPath, entry.name)
  }
}

function isRecordName(name: string): boolean {
  return name.endsWith('.json')
}

async function readRecordFile(place: string): Promise<OsvFile> {
  // A byte more than is allowed tells a file that is too large.
  const bytes = await buffer(createReadStream(place, { end: RECORD_BYTES_MAX }))
  requireSize(place, bytes.length)
  return { place, text: decode(place, bytes) }
}

/** Entries are read where they stand; nothing is unpacked to a place that an entry could name. */
async function* readZip(path: string): AsyncGenerator<OsvFile> {
  const zip = await openZip(path)
  try {
    yield* readAhead(recordEntries(zip, path), (entry) => readEntry(zip, entry, `${path}: ${entry.fileName}`))
  } finally {
    zip.close()
  }
}

async function* recordEntries(zip: ZipFile, path: string): AsyncGenerator<Entry> {
  try {
    for await (const entry of zip.eachEntry()) if (isRecordName(entry.fileName)) yield entry
  } catch (error) {
    throw brokenZip(path, error)
  }
}

async function readEntry(zip: ZipFile, entry: Entry, place: string): Promise<OsvFile> {
  // yauzl ends an entry that is longer than it says with an error.
  requireSize(place, entry.uncompressedSize)
  try {
    const bytes = await buffer(await zip.openReadStreamPromise(entry))
    if (crc32(bytes) !== entry.crc32) throw new Error('its checksum is wrong')
    return { place, text: decode(place, bytes) }
  } catch (error) {
    throw error instanceof IntelError ? error : new IntelError(`${place} cannot be read: ${(error as Error).message}.`)
  }
}

async function openZip(path: string): Promise<ZipFile> {
  try {
    const zip = await openPromise(path, { autoClose: false })
    if (zip.entryCount > ENTRIES_MAX) throw new Error(`more than ${ENTRIES_MAX} entries`)
    return zip
  } catch (error) {
    throw brokenZip(path, error)
  }
}

function brokenZip(path: string, error: unknown): IntelError {
  return new IntelError(`${path} cannot be read as a zip file: ${(error as Error).message}.`)
}

function requireSize(place: string, sizeBytes: number): void {
  if (sizeBytes > RECORD_BYTES_MAX) throw new IntelError(`${place} is larger than ${RECORD_BYTES_MAX} bytes.`)
}

function decode(place: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new IntelError(`${place} is no UTF-8 text.`)
  }
}

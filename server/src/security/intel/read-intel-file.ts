import { createReadStream } from 'node:fs'
import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { crc32, createGunzip } from 'node:zlib'
import { type Entry, openPromise, type ZipFile } from 'yauzl'
import { IntelError } from './intel-file.ts'

/**
 * Reads a file, and decompresses it if its first bytes are those of gzip (RFC 1952 §2.3.1).
 * Throws IntelError.
 */
export async function* readIntelFile(path: string): AsyncGenerator<Buffer> {
  const isGzip = await hasPrefix(path, Buffer.from([0x1f, 0x8b]))
  const file = createReadStream(path)
  if (!isGzip) {
    yield* file
    return
  }
  const gunzip = createGunzip()
  file.on('error', (error) => gunzip.destroy(error))
  try {
    yield* file.pipe(gunzip)
  } catch (error) {
    throw isZlibError(error) ? new IntelError(`The file cannot be decompressed: ${error.message}.`) : error
  } finally {
    file.destroy()
  }
}

async function hasPrefix(path: string, bytes: Buffer): Promise<boolean> {
  for await (const chunk of createReadStream(path, { end: bytes.length - 1 })) return bytes.equals(chunk)
  return false
}

/** zlib's error codes, such as Z_DATA_ERROR and Z_BUF_ERROR. */
function isZlibError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}

/** Prefixes the message of an IntelError with the file's path. */
export async function withFileName<Result>(path: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    throw error instanceof IntelError ? new IntelError(`${path}: ${error.message}`) : error
  }
}

/** The text of one OSV record, and its path; in a zip file `archive: entry`. */
type OsvFile = { path: string; text: string }

const RECORD_BYTES_MAX = 32 * 1024 * 1024
const ENTRIES_MAX = 5_000_000
/** The signature of a zip file's first local header (APPNOTE.TXT §4.3.7). */
const ZIP_START = Buffer.from([0x50, 0x4b, 0x03, 0x04])

/** Reads every OSV record at a path: a file, a directory or a zip file. Throws IntelError. */
export async function* readOsvFiles(path: string): AsyncGenerator<OsvFile> {
  if ((await stat(path)).isDirectory()) yield* readAhead(recordPaths(path), readRecordFile)
  else if (await hasPrefix(path, ZIP_START)) yield* readZip(path)
  else yield await readRecordFile(path)
}

async function* recordPaths(directory: string): AsyncGenerator<string> {
  for await (const entry of await opendir(directory, { recursive: true })) {
    if (entry.isFile() && isRecordName(entry.name)) yield join(entry.parentPath, entry.name)
  }
}

function isRecordName(name: string): boolean {
  return name.endsWith('.json')
}

async function readRecordFile(path: string): Promise<OsvFile> {
  // One byte over the limit is enough to detect a file that is too large.
  const bytes = await buffer(createReadStream(path, { end: RECORD_BYTES_MAX }))
  requireSize(path, bytes.length)
  return { path, text: decode(path, bytes) }
}

/**
 * Entries are read in memory. Nothing is extracted, so an entry's name cannot write outside a
 * directory.
 */
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

async function readEntry(zip: ZipFile, entry: Entry, path: string): Promise<OsvFile> {
  // yauzl fails on an entry that is longer than its header states.
  requireSize(path, entry.uncompressedSize)
  try {
    const bytes = await buffer(await zip.openReadStreamPromise(entry))
    if (crc32(bytes) !== entry.crc32) throw new Error('the checksum does not match')
    return { path, text: decode(path, bytes) }
  } catch (error) {
    throw error instanceof IntelError ? error : new IntelError(`${path} cannot be read: ${(error as Error).message}.`)
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

function requireSize(path: string, sizeBytes: number): void {
  if (sizeBytes > RECORD_BYTES_MAX) throw new IntelError(`${path} is larger than ${RECORD_BYTES_MAX} bytes.`)
}

function decode(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new IntelError(`${path} is not UTF-8 text.`)
  }
}

const AHEAD = 16

/**
 * Reads items and yields the results in order. Up to AHEAD reads run at once, because each mostly
 * waits for I/O.
 */
async function* readAhead<Item, Result>(
  items: AsyncIterable<Item>,
  read: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const begun: Promise<Result>[] = []
  for await (const item of items) {
    const reading = read(item)
    // A failure is thrown when its turn comes.
    reading.catch(() => {})
    begun.push(reading)
    if (begun.length >= AHEAD) yield await (begun.shift() as Promise<Result>)
  }
  for (const reading of begun) yield await reading
}

import { createHash, type Hash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import type { Tx } from '../platform/db/sql.ts'
import { writeWhole } from '../platform/files.ts'
import { encodeTar, type TarFile } from '../platform/tar.ts'
import type { Services } from '../services.ts'
import type { Organization } from './organization.store.ts'
import {
  findOrganizationRow,
  listOwnedRows,
  listOwnedTables,
  updateTransactionTimeouts,
} from './organization-rows.store.ts'

export type ExportedOrganization = { rows: number; objects: number; tables: Record<string, number> }

/** Finds the keys of an organization's objects, some at a time. */
export type ListObjects = (tx: Tx, orgId: string) => AsyncIterable<string>

type Export = {
  organization: Organization
  listObjects: readonly ListObjects[]
  onRow?: (rows: number) => void
}

const FORMAT = 'shiplock-organization'
const VERSION = 1

/**
 * Writes an organization to a new file: a tar archive, compressed with gzip, with one JSON document
 * a line for each row of each table, and its objects. Everything is of one moment. The file appears
 * under its name when it is complete and on disk, and is then read again and compared with what was
 * written. It contains hashes of keys and encrypted secrets: only the user who runs the program can
 * read it.
 */
export async function exportOrganization(
  services: Services,
  path: string,
  exported: Export,
): Promise<ExportedOrganization> {
  const counts: ExportedOrganization = { rows: 0, objects: 0, tables: {} }
  if (existsSync(path)) throw new Error(`${path} exists already`)
  const written = createHash('sha256')
  await services.sql.begin('isolation level repeatable read read only', async (tx) => {
    await updateTransactionTimeouts(tx)
    const bytes = Readable.from(hashed(encodeTar(exportFiles(services, tx, exported, counts)), written))
    await pipeline(bytes, createGzip(), (compressed: AsyncIterable<Uint8Array>) => writeWhole(path, compressed))
  })
  await verifyExport(path, written.digest('hex'))
  return counts
}

/** Throws unless the file can be unpacked and has the bytes that were written to it. */
export async function verifyExport(path: string, sha256: string): Promise<void> {
  const read = createHash('sha256')
  try {
    await pipeline(createReadStream(path), createGunzip(), read)
  } catch (cause) {
    throw new Error(`${path} cannot be read again (${(cause as Error).message})`, { cause })
  }
  if (read.digest('hex') !== sha256) throw new Error(`${path} does not contain what was written to it`)
}

async function* hashed(bytes: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    hash.update(chunk)
    yield chunk
  }
}

async function* exportFiles(
  services: Services,
  tx: Tx,
  { organization, listObjects, onRow }: Export,
  counts: ExportedOrganization,
): AsyncGenerator<TarFile> {
  const modified_at = services.clock.now()
  const { id } = organization
  yield textFile(
    'export.json',
    `${JSON.stringify({ format: FORMAT, version: VERSION, exported_at: modified_at, organization })}\n`,
    modified_at,
  )
  yield textFile('tables/organizations.ndjson', `${await findOrganizationRow(tx, id)}\n`, modified_at)
  const { tables } = await listOwnedTables(tx)
  for (const table of tables) {
    let part = 0
    for await (const rows of listOwnedRows(tx, table, id)) {
      part += 1
      counts.rows += rows.count
      counts.tables[table] = (counts.tables[table] ?? 0) + rows.count
      onRow?.(counts.rows)
      yield textFile(`tables/${table}.${part}.ndjson`, rows.lines, modified_at)
    }
  }
  for (const list of listObjects)
    for await (const key of list(tx, id)) {
      const file = await objectFile(services, key, modified_at)
      if (file === null) continue
      counts.objects += 1
      yield file
    }
}

function textFile(name: string, text: string, modified_at: Date): TarFile {
  const bytes = Buffer.from(text)
  return { name, size: bytes.byteLength, modified_at, parts: Readable.from([bytes]) }
}

/** Null for an object that was never sent, or is gone. */
async function objectFile({ objects }: Services, key: string, modified_at: Date): Promise<TarFile | null> {
  const stored = await objects.stat(key)
  if (stored === null) return null
  return { name: `objects/${key}`, size: stored.sizeBytes, modified_at, parts: objects.read(key) }
}

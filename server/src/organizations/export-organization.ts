import { createWriteStream, existsSync } from 'node:fs'
import { link, open, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Tx } from '../platform/db/sql.ts'
import { type TarFile, tarBytes } from '../platform/tar.ts'
import type { Services } from '../services.ts'
import type { Organization } from './organization.store.ts'
import { keepOpen, readOrganizationRow, readOwnedRows, readOwnedTables } from './organization-rows.store.ts'

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
 * under its name when it is complete. It contains hashes of keys and encrypted secrets: only the
 * user who runs the program can read it.
 */
export async function exportOrganization(
  services: Services,
  path: string,
  exported: Export,
): Promise<ExportedOrganization> {
  const counts: ExportedOrganization = { rows: 0, objects: 0, tables: {} }
  const partial = `${path}.partial`
  if (existsSync(path)) throw new Error(`${path} exists already`)
  try {
    await services.sql.begin('isolation level repeatable read read only', async (tx) => {
      await keepOpen(tx)
      const bytes = Readable.from(tarBytes(filesOf(services, tx, exported, counts)))
      await pipeline(bytes, createGzip(), createWriteStream(partial, { mode: 0o600, flags: 'wx' }))
    })
    await sync(partial)
    // Unlike a rename, a link does not replace a file that was made meanwhile.
    await link(partial, path)
    await rm(partial)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
  return counts
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  await file.sync()
  await file.close()
}

async function* filesOf(
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
  yield textFile('tables/organizations.ndjson', `${await readOrganizationRow(tx, id)}\n`, modified_at)
  const { tables } = await readOwnedTables(tx)
  for (const table of tables) {
    let part = 0
    for await (const rows of readOwnedRows(tx, table, id)) {
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

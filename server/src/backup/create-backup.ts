import packageJson from '../../package.json' with { type: 'json' }
import type { ArchiveWriter } from '../platform/archive/archive-writer.ts'
import { computeDerivedKey, toSecretKey } from '../platform/crypto/secret-key.ts'
import { copyTable } from '../platform/db/copy-out.ts'
import { readRecords } from '../platform/db/migrations/migration-records.ts'
import { isDistributed } from '../platform/db/spread.ts'
import { readServerVersion, type Sql, type Tx } from '../platform/db/sql.ts'
import { listPartitions, listSequences, listStoredTables } from '../platform/db/stored-tables.ts'
import { measureBytes } from '../platform/metered.ts'
import type { Services } from '../services.ts'
import { type Closing, FORMAT, getTableContentName, type Opening, SECRET_KEY_CONTENT } from './manifest.ts'
import { insertObjectList } from './object-list.store.ts'
import { writeObjects } from './write-objects.ts'

export type BackupRequest = {
  archive: ArchiveWriter
  /** One connection without time limits: the list of objects belongs to the connection. */
  sql: Sql
  secret: string
  withSecret: boolean
  /** Reports bytes of content; the total is an estimate. */
  progress: (done: number, total: number) => void
}

const DISTRIBUTED =
  'The tables are distributed over several database servers, and a copy of them would not be of one moment. ' +
  'Back up these servers together instead (docs/operations/citus.md).'

/**
 * Writes a consistent copy of the installation while it is in use: all rows of one moment, then the
 * objects that they name, and the secret key.
 */
export async function createBackup(services: Services, request: BackupRequest): Promise<Closing> {
  const { archive, sql, progress } = request
  let done = 0
  const begun = await sql.begin('isolation level repeatable read', async (tx) => {
    const opening = await describe(tx, services, request)
    const count = (bytes: number) => {
      done += bytes
      progress(done, opening.estimated_bytes)
    }
    await archive.begin(opening)
    if (request.withSecret) await archive.add(SECRET_KEY_CONTENT, Buffer.from(`${request.secret}\n`))
    const rows = await writeTables(tx, archive, opening, count)
    return { rows, count, sequences: await listSequences(tx) }
  })
  const objects = await writeObjects(services, sql, archive, begun.count)
  const closing: Closing = { sequences: begun.sequences, rows: begun.rows, ...objects }
  await archive.end(closing)
  return closing
}

async function describe(tx: Tx, { clock }: Services, { secret, withSecret }: BackupRequest): Promise<Opening> {
  const migrations = await readRecords(tx)
  if (migrations.size === 0) throw new Error('The database has no tables of Shiplock: there is nothing to back up')
  if (await isDistributed(tx)) throw new Error(DISTRIBUTED)
  const tables = await listStoredTables(tx)
  const { bytes } = await insertObjectList(tx)
  return {
    format: FORMAT,
    created_at: clock.now().toISOString(),
    program_version: packageJson.version,
    server_version: await readServerVersion(tx),
    migrations: Object.fromEntries(migrations),
    tables,
    partitions: await listPartitions(tx),
    has_secret_key: withSecret,
    secret_key_check: checkOfSecret(secret),
    estimated_bytes: tables.reduce((sum, table) => sum + table.bytes, bytes),
  }
}

/** The same for the same secret key. */
export function checkOfSecret(secret: string): string {
  return computeDerivedKey(toSecretKey(secret), 'check of backups').export().toString('hex')
}

async function writeTables(
  tx: Tx,
  archive: ArchiveWriter,
  { tables }: Opening,
  count: (bytes: number) => void,
): Promise<Record<string, number>> {
  const rows: Record<string, number> = {}
  for (const table of tables) {
    const copied = copyTable(tx, table)
    await archive.addContent(getTableContentName(table.name), measureBytes(copied.bytes, count))
    rows[table.name] = copied.rows()
  }
  return rows
}

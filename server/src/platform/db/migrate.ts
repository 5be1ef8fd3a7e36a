import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { Sql, Tx } from './sql.ts'

const MIGRATIONS = new URL('../../../migrations/', import.meta.url)
/** An arbitrary constant. The process that holds this lock migrates; the others wait. */
const MIGRATION_LOCK = 8_420_001

type Migration = { name: string; text: string; checksum: string }

/**
 * Migrates the schema, each file in its own transaction. Returns the names of the applied files.
 */
export async function migrate(sql: Sql): Promise<string[]> {
  const migrations = await readMigrations()
  const applied: string[] = []
  for (const migration of migrations) {
    if (await sql.begin((tx) => applyOnce(tx, migration))) applied.push(migration.name)
  }
  return applied
}

/** Returns the names of the migrations that were not applied yet. */
export async function pendingMigrations(sql: Sql): Promise<string[]> {
  const [table] = await sql<[{ present: boolean }]>`select to_regclass('schema_migrations') is not null as present`
  const rows = table.present ? await sql<{ name: string }[]>`select name from schema_migrations limit 10000` : []
  const known = new Set(rows.map((row) => row.name))
  return (await readMigrations()).map((migration) => migration.name).filter((name) => !known.has(name))
}

async function applyOnce(tx: Tx, migration: Migration): Promise<boolean> {
  await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK})`
  await tx`set local statement_timeout = 0`
  await tx`
    create table if not exists schema_migrations (
      name text primary key,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`
  const [known] = await tx<{ checksum: string }[]>`
    select checksum from schema_migrations where name = ${migration.name}`
  if (known) return refuseChanged(migration, known.checksum)
  await tx.unsafe(migration.text).simple()
  await tx`insert into schema_migrations (name, checksum) values (${migration.name}, ${migration.checksum})`
  return true
}

/**
 * An applied file must not change. Otherwise databases of one version would have different schemas.
 */
function refuseChanged(migration: Migration, checksum: string): false {
  if (migration.checksum === checksum) return false
  throw new Error(`Migration ${migration.name} was changed after it was applied. Add a new file instead.`)
}

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(names.map(readMigration))
}

async function readMigration(name: string): Promise<Migration> {
  const text = await readFile(new URL(name, MIGRATIONS), 'utf8')
  return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
}

import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { createRecords } from '../../../src/platform/db/migrations/migration-records.ts'
import { computeChecksum } from '../../../src/platform/db/migrations/read-migrations.ts'
import { parseStatements } from '../../../src/platform/db/migrations/run-migration.ts'
import type { Sql } from '../../../src/platform/db/sql.ts'

/** A row as `to_jsonb` gives it, without generated columns. */
type Row = Record<string, unknown>

/** The last database before the baseline: the migrations of a commit, and rows of all of its tables. */
export type LandedDatabase = {
  commit: string
  migrations: { name: string; text: string }[]
  /** In an order that satisfies the foreign keys. */
  tables: [name: string, rows: Row[]][]
}

const FILE = new URL('../../fixtures/upgrade/database.json.gz', import.meta.url)

export async function readLandedDatabase(): Promise<LandedDatabase> {
  return JSON.parse(gunzipSync(await readFile(FILE)).toString())
}

/** Makes an empty database the landed one, as the program of its time left it. */
export async function openLandedDatabase(sql: Sql, { migrations, tables }: LandedDatabase): Promise<void> {
  for (const { text } of migrations) await applyMigration(sql, text)
  await sql.begin(createRecords)
  const recorded = migrations.map(({ name, text }) => ({ name, checksum: computeChecksum(text) }))
  await sql`insert into schema_migrations ${sql(recorded)}`
  for (const [table, rows] of tables) if (rows.length > 0) await insertRows(sql, table, rows)
}

/** By single statements if its first line says so. */
async function applyMigration(sql: Sql, text: string): Promise<void> {
  const statements = text.startsWith('-- run: statement by statement\n') ? parseStatements(text) : [text]
  for (const statement of statements) await sql.unsafe(statement).simple()
}

async function insertRows(sql: Sql, table: string, rows: Row[]): Promise<void> {
  const columns = Object.keys(rows[0] as Row).map((name) => `"${name}"`)
  await sql.unsafe(
    `insert into ${table} (${columns}) overriding system value
     select ${columns} from jsonb_populate_recordset(null::${table}, $1::text::jsonb)`,
    [JSON.stringify(rows)],
  )
}

/** All rows of the tables, as JSON. */
export async function readTables(sql: Sql): Promise<Map<string, Row[]>> {
  const tables = await sql<{ name: string }[]>`
    select relname as name
    from pg_class
    where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p')`
  const found = new Map<string, Row[]>()
  for (const { name } of tables) {
    const rows = await sql<{ row: Row }[]>`select to_jsonb(t.*) as row from ${sql(name)} t`
    found.set(
      name,
      rows.map(({ row }) => row),
    )
  }
  return found
}

/** A schema without the order of its columns, which depends on when each was added. */
export function withoutColumnOrder(schema: string): string[] {
  return schema.split('\n\n').map((part) =>
    part
      .split('\n')
      .map((line) => line.replace(/,$/, ''))
      .sort()
      .join('\n'),
  )
}

/** The rows of a database that the upgraded one no longer has, each with its table. */
export function lostRows(before: Map<string, Row[]>, after: Map<string, Row[]>): string[] {
  return [...before].flatMap(([table, rows]) => {
    const left = after.get(table)
    if (left === undefined) return [`the table ${table}`]
    const same = (row: Row) => left.some((other) => isKept(row, other))
    return rows.filter((row) => !same(row)).map((row) => `${table}: ${JSON.stringify(row)}`)
  })
}

function isKept(row: Row, other: Row): boolean {
  return Object.entries(row).every(([name, value]) => isDeepStrictEqual(other[name], value))
}

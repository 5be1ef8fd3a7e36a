import { isDeepStrictEqual } from 'node:util'
import { createRecords } from '../../../src/platform/db/migrations/migration-records.ts'
import type { Sql } from '../../../src/platform/db/sql.ts'
import { applyMigration, type LandedState, type LandedStates, type Row } from './landed-states.ts'

/** Makes an empty database one of the state, with its rows, as the program of its time left it. */
export async function openState(sql: Sql, landed: LandedStates, state: LandedState): Promise<void> {
  for (const [name, checksum] of Object.entries(state.migrations)) await applyMigration(sql, landed, name, checksum)
  await createRecordsOf(sql, state)
  const recorded = Object.entries(state.migrations).map(([name, checksum]) => ({ name, checksum }))
  await sql`insert into schema_migrations ${sql(recorded)}`
  for (const [table, numbers] of state.tables) {
    const rows = numbers.map((no) => landed.rows[table]?.[no] as Row)
    if (rows.length > 0) await insertRows(sql, table, rows)
  }
}

/** Programs before this migration had no records of batches. */
const FIRST_WITH_BATCHES = '0080_retention.sql'

async function createRecordsOf(sql: Sql, { migrations }: LandedState): Promise<void> {
  if (FIRST_WITH_BATCHES in migrations) await sql.begin(createRecords)
  else
    await sql`create table schema_migrations (
      name text primary key, checksum text not null, applied_at timestamptz not null default now())`
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

/** The rows of a state that an upgraded database no longer has, each with its table. */
export function lostRows(before: Map<string, Row[]>, after: Map<string, Row[]>, changed: Changed): string[] {
  return [...before].flatMap(([table, rows]) => {
    const left = after.get(table)
    if (left === undefined) return changed.removed.includes(table) ? [] : [`the table ${table}`]
    const same = (row: Row) => left.some((other) => isKept(table, row, other, changed))
    return rows.filter((row) => !same(row)).map((row) => `${table}: ${JSON.stringify(row)}`)
  })
}

/** What migrations change on purpose. */
export type Changed = {
  /** Tables that were removed. */
  removed: string[]
  /** New names of columns, by `table.column`; null if the column was removed or is computed anew. */
  columns: Record<string, string | null>
}

function isKept(table: string, row: Row, other: Row, { columns }: Changed): boolean {
  return Object.entries(row).every(([name, value]) => {
    const renamed = columns[`${table}.${name}`]
    if (renamed === null || isDeepStrictEqual(other[name], value)) return true
    return renamed !== undefined && isDeepStrictEqual(other[renamed], value)
  })
}

import { readFile, writeFile } from 'node:fs/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { checksumOf } from '../../../src/platform/db/migrations/read-migrations.ts'
import { statementsOf } from '../../../src/platform/db/migrations/run-statements.ts'
import type { Sql } from '../../../src/platform/db/sql.ts'

/** A row as `to_jsonb` gives it, without generated columns. */
export type Row = Record<string, unknown>

/** A schema that was on main: the migrations of a commit, and rows that its tables accepted. */
export type LandedState = {
  /** The first commit with this schema, and its title. */
  commit: string
  title: string
  /** Names with the checksums of the files. */
  migrations: Record<string, string>
  /** Tables in an order that satisfies the foreign keys, with the numbers of their rows in `rows`. */
  tables: [name: string, rows: number[]][]
}

export type LandedStates = {
  states: LandedState[]
  rows: Record<string, Row[]>
  /** Texts of files that have changed or were removed since, by checksum. */
  earlier_texts: Record<string, string>
}

const FILE = new URL('../../fixtures/upgrade/states.json.gz', import.meta.url)
const MIGRATIONS = new URL('../../../migrations/', import.meta.url)

export async function readLandedStates(): Promise<LandedStates> {
  return JSON.parse(gunzipSync(await readFile(FILE)).toString())
}

export async function writeLandedStates(states: LandedStates): Promise<void> {
  await writeFile(FILE, gzipSync(JSON.stringify(states), { level: 9 }))
}

/** The text of a migration of a state. */
async function textOf({ earlier_texts }: LandedStates, name: string, checksum: string): Promise<string> {
  const earlier = earlier_texts[checksum]
  if (earlier !== undefined) return earlier
  const text = await readFile(new URL(name, MIGRATIONS), 'utf8')
  if (checksumOf(text) !== checksum) throw new Error(`${name} was changed; write the fixtures again`)
  return text
}

/** Applies a migration of a state, by single statements if its first line says so. */
export async function applyMigration(sql: Sql, landed: LandedStates, name: string, checksum: string): Promise<void> {
  const text = await textOf(landed, name, checksum)
  const statements = text.startsWith('-- run: statement by statement\n') ? statementsOf(text) : [text]
  for (const statement of statements) await sql.unsafe(statement).simple()
}

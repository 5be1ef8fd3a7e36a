import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { listSequences, listStoredTables } from '../../src/platform/db/stored-tables.ts'
import type { TestApi } from './api.ts'
import { createEmptyTestDatabase, type TestDatabase } from './database.ts'
import { describeSchema } from './describe-schema.ts'
import { runProgram } from './program.ts'
import { s3Environment, s3UnderTest } from './s3-under-test.ts'

/** A directory for backups, and what has been opened for a test. */
export type BackupPlace = { directory: string; close(): Promise<void> }

export async function makeBackupPlace(): Promise<BackupPlace> {
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-backup-'))
  // The user that runs PostgreSQL must reach a WAL archive in it.
  await chmod(directory, 0o755)
  return { directory, close: () => rm(directory, { recursive: true, force: true }) }
}

/** The settings under which the program works on the data of an API. */
export function settingsOf(api: TestApi): Record<string, string> {
  return { DATABASE_URL: api.database.url, ...(s3UnderTest && s3Environment(s3UnderTest)) }
}

/** Runs a command on the data of an API. */
export function runOn(api: TestApi, args: string[], env: Record<string, string> = {}) {
  return runProgram(api.services.config.dataDir, args, { ...settingsOf(api), ...env })
}

/** An empty database with an empty data directory. */
export type RestoreTarget = { dataDir: string; database: TestDatabase; sql: Sql; close(): Promise<void> }

export async function makeRestoreTarget(directory: string): Promise<RestoreTarget> {
  const dataDir = await mkdtemp(join(directory, 'restored-'))
  const database = await createEmptyTestDatabase()
  const sql = openSql(database.connection, { max: 2, applicationName: 'test' })
  const close = async () => {
    await sql.end()
    await database.drop()
  }
  return { dataDir, database, sql, close }
}

export function restoreTo(target: RestoreTarget, args: string[], env: Record<string, string> = {}) {
  const s3 = s3UnderTest ? s3Environment(s3UnderTest) : {}
  return runProgram(target.dataDir, ['restore', ...args], { DATABASE_URL: target.database.url, ...s3, ...env })
}

/** Compares schema, every row of every table, and every sequence. */
export async function assertSameData(actual: Sql, expected: Sql): Promise<void> {
  assert.equal(await describeSchema(actual), await describeSchema(expected))
  assert.deepEqual(await listSequences(actual), await listSequences(expected))
  const tables = await listStoredTables(expected)
  assert.deepEqual(namesOf(await listStoredTables(actual)), namesOf(tables))
  for (const { name } of tables) assert.deepEqual(await rowsOf(actual, name), await rowsOf(expected, name), name)
}

function namesOf(tables: { name: string; columns: string[] }[]) {
  return tables.map(({ name, columns }) => ({ name, columns }))
}

async function rowsOf(sql: Sql, table: string): Promise<string[]> {
  const rows = await sql.unsafe<{ row: string }[]>(`select t::text as row from ${table} t order by 1`)
  return rows.map(({ row }) => row)
}

/** The tables without a row. */
export async function emptyTables(sql: Sql): Promise<string[]> {
  const tables = await listStoredTables(sql)
  const found = await Promise.all(
    tables.map(async ({ name }) => ({ name, rows: await sql.unsafe(`select from ${name} limit 1`) })),
  )
  return found.filter(({ rows }) => rows.length === 0).map(({ name }) => name)
}

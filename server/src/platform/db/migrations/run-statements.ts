import { openAside, type Sql } from '../sql.ts'
import { lockSession } from './migration-lock.ts'
import { readRecords, record } from './migration-records.ts'
import type { Migration } from './read-migrations.ts'

const CREATED_INDEX = /create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\w+)/gi

/**
 * Runs the statements of a migration one by one, outside of a transaction. They wait for others as
 * long as they need, because statements such as `create index concurrently` block nobody meanwhile.
 */
export async function runStatements(sql: Sql, migration: Migration): Promise<boolean> {
  const connection = openAside(sql)
  try {
    await lockSession(connection)
    if ((await readRecords(connection)).has(migration.name)) return false
    await connection`select set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false)`
    // The work of a process that was killed ends, so that the next one does not wait for it.
    await connection`select set_config('client_connection_check_interval', '1s', false)`
    await dropInvalidIndexes(connection, migration.text)
    for (const statement of parseStatements(migration.text)) await connection.unsafe(statement).simple()
    await record(connection, migration)
    return true
  } finally {
    await connection.end()
  }
}

/**
 * An interrupted `create index concurrently` leaves an index that is not used and not completed.
 */
async function dropInvalidIndexes(connection: Sql, text: string): Promise<void> {
  const names = Array.from(text.matchAll(CREATED_INDEX), ([, name = '']) => name)
  if (names.length === 0) return
  const invalid = await connection<{ name: string }[]>`
    select indexrelid::regclass::text as name
    from pg_index
    join pg_class on pg_class.oid = indexrelid
    where not indisvalid
      and relname in ${connection(names)}
      and relnamespace = current_schema()::regnamespace
    limit 100`
  for (const { name } of invalid) await connection.unsafe(`drop index concurrently if exists ${name}`).simple()
}

/** A statement ends with a semicolon at the end of a line. */
export function parseStatements(text: string): string[] {
  const code = text.replace(/^\s*--.*\n/gm, '')
  return code
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { listPendingMigrations, migrate } from '../../src/platform/db/migrations/migrate.ts'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { createEmptyTestDatabase } from '../support/database.ts'
import { describeSchema } from '../support/describe-schema.ts'
import {
  lostRows,
  openLandedDatabase,
  readLandedDatabase,
  readTables,
  withoutColumnOrder,
} from '../support/upgrade/landed-database.ts'

const landed = await readLandedDatabase()

test('a database of the last schema before the baseline upgrades in place with its data', () =>
  withEmptyDatabase(async (sql) => {
    await openLandedDatabase(sql, landed)
    const before = await readTables(sql)
    assert.ok(before.size > 100)
    before.delete('schema_migrations')
    const applied = await migrate(sql)

    assert.equal(applied[0], '0001_baseline.sql')
    const schema = await readFile(new URL('../../schema.sql', import.meta.url), 'utf8')
    assert.deepEqual(withoutColumnOrder(await describeSchema(sql)), withoutColumnOrder(schema))
    assert.deepEqual(lostRows(before, await readTables(sql)), [])
    assert.deepEqual(await listPendingMigrations(sql), [])
    assert.deepEqual(await migrate(sql), [])
  }))

test('a database of an earlier schema is refused with what to do, and stays as it is', () =>
  withEmptyDatabase(async (sql) => {
    await openLandedDatabase(sql, { ...landed, migrations: landed.migrations.slice(0, 20), tables: [] })
    await assert.rejects(migrate(sql), {
      message:
        'The database has an older schema than 0001_baseline.sql can take over. Run "migrate" of the last version before ' +
        'this one on it first, or restore a backup from after that.',
    })
    const [stored] = await sql`select count(*)::int as migrations from schema_migrations`
    assert.equal(stored?.migrations, 20)
  }))

async function withEmptyDatabase(use: (sql: Sql) => Promise<void>): Promise<void> {
  const database = await createEmptyTestDatabase()
  const sql = openSql(database.connection, { max: 1, applicationName: 'upgrade' })
  try {
    await use(sql)
  } finally {
    await sql.end()
    await database.drop()
  }
}

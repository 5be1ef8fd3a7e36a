// Writes server/schema.sql from a database that was migrated from nothing.
import { writeFile } from 'node:fs/promises'
import { openSql } from '../../src/platform/db/sql.ts'
import { createTestDatabase } from './database.ts'
import { describeSchema } from './describe-schema.ts'

const database = await createTestDatabase()
const sql = openSql(database.connection, { max: 1, applicationName: 'schema' })
try {
  await writeFile(new URL('../../schema.sql', import.meta.url), await describeSchema(sql))
} finally {
  await sql.end()
  await database.drop()
}

import { bringUpToDate } from '../bring-up-to-date.ts'
import { openDatabase } from '../database.ts'
import { openSql } from '../platform/db/sql.ts'
import { createLog } from '../platform/log.ts'
import { defineCommand } from './command.ts'

export const migrateDatabase = defineCommand({
  name: 'migrate',
  about:
    'Migrates the database to the current schema. Run it before "server" and "worker". "start" migrates the database itself.',
  arguments: [],
  options: {},
  async run({ readSettings, say, print }) {
    const config = readSettings()
    await using opened = new AsyncDisposableStack()
    const database = await openDatabase(config, say)
    opened.defer(() => database.close())
    const sql = openSql(database.address, { max: 1, applicationName: 'shiplock migrate' })
    opened.defer(() => sql.end())
    const applied = await bringUpToDate(sql, database, createLog(config.logLevel), say)
    print({
      json: { applied },
      text: applied.length > 0 ? `Applied ${applied.join(', ')}` : 'The database is up to date.',
    })
  },
})

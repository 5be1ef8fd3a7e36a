// A process that migrates a database: `node migrator-program.ts <address> <directory>`. It prints a
// line for each batch.
import { pathToFileURL } from 'node:url'
import { migrate } from '../../../src/platform/db/migrations/migrate.ts'
import { openSql } from '../../../src/platform/db/sql.ts'

const [address = '', directory = ''] = process.argv.slice(2)
const sql = openSql(address, { max: 1, applicationName: 'migrator program' })
await migrate(sql, { directory: pathToFileURL(`${directory}/`), follow: (rows) => console.log(rows) })
await sql.end()

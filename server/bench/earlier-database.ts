import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { migrate } from '../src/platform/db/migrations/migrate.ts'
import { MIGRATIONS } from '../src/platform/db/migrations/read-migrations.ts'
import { openSql, type Sql } from '../src/platform/db/sql.ts'
import type { Setting } from './setting.ts'
import { storeFindings } from './stored-findings.ts'
import { createOrganization, LARGE } from './stored-organizations.ts'

/** Three connections: the migration, a reader and a writer. */
const CONNECTIONS = 3

type Copy = <Result>(use: (sql: Sql) => Promise<Result>) => Promise<Result>

/** A database with the schema of the migration `last` and 1,000,000 findings, of which copies are made. */
export async function withEarlierDatabase<Result>(
  { sql: admin, directory }: Setting,
  last: string,
  use: (copy: Copy) => Promise<Result>,
): Promise<Result> {
  const name = `schema_${last}`
  const migrations = await copyMigrations(directory, last)
  await admin.unsafe(`create database ${name} template template0`)
  try {
    await withDatabase(admin, name, (sql) => fill(sql, migrations))
    return await use((measure) => withCopy(admin, name, measure))
  } finally {
    await admin.unsafe(`drop database ${name}`)
    await rm(migrations, { recursive: true })
  }
}

async function copyMigrations(directory: string, last: string): Promise<string> {
  const target = await mkdtemp(`${directory}-migrations-`)
  for (const name of await readdir(MIGRATIONS))
    if (name.endsWith('.sql') && name.slice(0, last.length) <= last)
      await copyFile(new URL(name, MIGRATIONS), join(target, name))
  return target
}

async function fill(sql: Sql, migrations: string): Promise<void> {
  await migrate(sql, { directory: pathToFileURL(`${migrations}/`) })
  const { id } = await createOrganization(sql, 'large')
  await storeFindings(sql, id, LARGE, (done) => process.stderr.write(`\r  ${done} of ${LARGE} findings stored`))
  process.stderr.write('\n')
}

async function withCopy<Result>(admin: Sql, name: string, use: (sql: Sql) => Promise<Result>): Promise<Result> {
  await admin.unsafe(`create database ${name}_copy template ${name} strategy file_copy`)
  try {
    return await withDatabase(admin, `${name}_copy`, use)
  } finally {
    await admin.unsafe(`drop database ${name}_copy`)
  }
}

async function withDatabase<Result>(admin: Sql, database: string, use: (sql: Sql) => Promise<Result>): Promise<Result> {
  const { host, port, user } = admin.options as unknown as { host: string[]; port: number[]; user: string }
  const address = { host: host[0] as string, port: port[0] as number, user, database }
  const sql = openSql(address, { max: CONNECTIONS, applicationName: 'bench', statementTimeoutMs: 0 })
  return use(sql).finally(() => sql.end())
}

import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { migrate } from '../src/platform/db/migrations/migrate.ts'
import { openSql, type Sql } from '../src/platform/db/sql.ts'
import { listStoredTables } from '../src/platform/db/stored-tables.ts'
import { copyTable, openCopy, writeCopy } from '../src/platform/db/table-copy.ts'
import { type Benchmark, interleave } from './benchmark.ts'
import type { Setting } from './setting.ts'
import { largeAndSmall } from './stored-organizations.ts'

const ROUNDS = 2
const MAIN = new URL('../src/main.ts', import.meta.url).pathname
const run = promisify(execFile)

/** The whole program, with its start, beside COPY of the same tables to and from plain files. */
export const backups: Benchmark<Setting>[] = [
  {
    name: 'backup',
    about: 'a backup of 1,000,000 findings with their issues, beside COPY of all tables to files',
    unit: 'ms',
    bar: null,
    onlyByName: true,
    measure: (setting) => withDirectory(setting, (directory) => measureBackup(setting, directory)),
  },
  {
    name: 'backup restore',
    about: 'its restore into a new data directory, beside COPY into migrated tables with their indexes',
    unit: 'ms',
    bar: null,
    onlyByName: true,
    measure: (setting) => withDirectory(setting, (directory) => measureRestore(setting, directory)),
  },
]

async function withDirectory<Result>(setting: Setting, use: (directory: string) => Promise<Result>): Promise<Result> {
  await largeAndSmall(setting)
  const directory = await mkdtemp(`${setting.directory}-backup-`)
  return use(directory).finally(() => rm(directory, { recursive: true, force: true }))
}

function measureBackup({ directory: dataDir, sql }: Setting, directory: string) {
  return interleave(
    ROUNDS,
    (round) => timed(() => runMain(dataDir, 'backup', join(directory, `${round}.backup`))),
    (round) => timed(() => copyToFiles(sql, join(directory, `${round}`))),
  )
}

async function measureRestore({ directory: dataDir, sql }: Setting, directory: string) {
  const file = join(directory, 'backup')
  await runMain(dataDir, 'backup', file)
  await copyToFiles(sql, join(directory, 'tables'))
  return interleave(
    ROUNDS,
    (round) => timed(() => runMain(join(directory, `restored-${round}`), 'restore', file)),
    (round) => copyIntoNew(sql, `bare_${round}`, join(directory, 'tables')),
  )
}

async function runMain(dataDir: string, ...args: string[]): Promise<void> {
  await run(process.execPath, [MAIN, ...args], { env: { PATH: process.env.PATH, SHIPLOCK_DATA_DIR: dataDir } })
}

async function copyToFiles(sql: Sql, directory: string): Promise<void> {
  await mkdir(directory)
  await sql.begin('isolation level repeatable read', async (tx) => {
    await tx`set local statement_timeout = 0`
    for (const table of await listStoredTables(tx))
      await pipeline(Readable.from(copyTable(tx, table).bytes), createWriteStream(join(directory, table.name)))
  })
}

/** Creating the tables is not measured. */
async function copyIntoNew(admin: Sql, name: string, directory: string): Promise<number> {
  await admin.unsafe(`create database ${name} template template0`)
  const { host, port, user } = admin.options as unknown as { host: string[]; port: number[]; user: string }
  const address = { host: host[0] as string, port: port[0] as number, user, database: name }
  const sql = openSql(address, { max: 1, applicationName: 'bench', statementTimeoutMs: 0 })
  try {
    await migrate(sql)
    return await timed(() => copyFromFiles(sql, directory))
  } finally {
    await sql.end()
    await admin.unsafe(`drop database ${name}`)
  }
}

async function copyFromFiles(sql: Sql, directory: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    const tables = await listStoredTables(tx)
    await tx.unsafe(`truncate ${tables.map(({ name }) => name).join(', ')}`)
    for (const { name, columns } of tables) {
      const copy = await openCopy(tx, name, columns)
      await writeCopy(copy, async () => {
        for await (const bytes of createReadStream(join(directory, name))) await copy.writeBytes(bytes)
      })
    }
  })
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

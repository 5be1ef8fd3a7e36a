import { cp, mkdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { UsageError } from '@shiplock/command-line/options'
import { abandonRestore, completeRestore, recordBackup, startRestore } from '../platform/backup-marks.ts'
import { systemClock } from '../platform/clock.ts'
import { selectAccount } from '../platform/db/embedded/account.ts'
import { copyCluster, restoreBaseBackup } from '../platform/db/embedded/base-backup.ts'
import { stopLeftServer, writeToDisk } from '../platform/db/embedded/embedded-postgres.ts'
import { checkArchiveReadable } from '../platform/db/embedded/wal-archive.ts'
import { openSql, readServerTime } from '../platform/db/sql.ts'
import { synchronizeDirectory, toNullIfMissing } from '../platform/files.ts'
import { openDatabase, openForRecovery } from '../start/database.ts'
import { defineCommand } from './command.ts'

const CLUSTER = 'postgres'
/** Immutable files, and what belongs to the database. */
const BESIDE = ['objects', 'secret-key']

export const backupBase = defineCommand({
  name: 'backup base',
  about:
    'Copies the embedded database with objects and secret key into a new directory, also while the server is running. With the WAL archive (SHIPLOCK_WAL_ARCHIVE), it can be restored to any later time.',
  arguments: ['directory'],
  options: {},
  async run({ readSettings, say, print }, { directory }) {
    const config = readSettings()
    if (config.databaseUrl !== null) throw new Error('DATABASE_URL is set; use pg_basebackup of that server')
    if (config.walArchive === null) throw new Error('Set SHIPLOCK_WAL_ARCHIVE: without it, the copy cannot be used')
    if (await toNullIfMissing(stat(directory))) throw new Error(`${directory} exists already`)
    await using opened = new AsyncDisposableStack()
    const database = await openDatabase(config, say)
    opened.defer(() => database.close())
    const sql = openSql(database.address, {
      max: 1,
      applicationName: 'shiplock backup',
      statementTimeoutMs: 0,
      lasting: true,
    })
    opened.defer(() => sql.end({ timeout: 1 }))
    const partial = `${resolve(directory)}.partial-${process.pid}`
    opened.defer(() => rm(partial, { recursive: true, force: true }))
    await mkdir(partial, { mode: 0o700 })
    await copyCluster(sql, join(config.dataDir, CLUSTER), join(partial, CLUSTER))
    await copyBeside(config.dataDir, partial)
    const usable_from = (await readServerTime(sql)).toISOString()
    await rename(partial, directory)
    await synchronizeDirectory(dirname(resolve(directory)))
    await recordBackup(config.dataDir, systemClock.now())
    print({ json: { directory, usable_from }, text: `${directory} can be restored to any time from ${usable_from}` })
  },
})

async function copyBeside(from: string, to: string): Promise<void> {
  for (const name of BESIDE) await toNullIfMissing(cp(join(from, name), join(to, name), { recursive: true }))
}

export const restoreBase = defineCommand({
  name: 'restore base',
  about:
    'Restores a base backup and the WAL archive into an empty data directory, as they were at a time or at the end of the archive.',
  arguments: ['directory'],
  options: {
    wal: { type: 'text', value: 'DIRECTORY', about: 'the archive that SHIPLOCK_WAL_ARCHIVE named', required: true },
    until: { type: 'text', value: 'TIME', about: 'the time to restore, like 2026-11-23T09:30:00Z' },
    objects: { type: 'text', value: 'DIRECTORY', about: 'a newer copy of the directory of objects' },
  },
  async run({ readSettings, say, print }, { directory }, { wal, until, objects }) {
    const config = readSettings()
    const time = until === undefined ? null : parseTime(until)
    const { dataDir } = config
    if (config.databaseUrl !== null) throw new Error('DATABASE_URL is set; restore that server with its own tools')
    if (!(await toNullIfMissing(stat(join(directory, CLUSTER))))) throw new Error(`${directory} is not a base backup`)
    await startRestore(dataDir, () => stopLeftServer(dataDir))
    try {
      const account = await selectAccount(join(dataDir, CLUSTER))
      await checkArchiveReadable(resolve(wal), account)
      await restoreBaseBackup(join(directory, CLUSTER), join(dataDir, CLUSTER), account)
      await copyBeside(directory, dataDir)
      if (objects !== undefined) await cp(objects, join(dataDir, 'objects'), { recursive: true })
      say('Reading the WAL archive')
      const database = await openForRecovery(config, { wal: resolve(wal), until: time, say })
      await database.close()
      await writeToDisk(dataDir)
      await completeRestore(dataDir)
    } catch (error) {
      await stopLeftServer(dataDir)
      const isTooLate = await endedTooEarly(dataDir)
      await abandonRestore(dataDir)
      if (!isTooLate) throw error
      throw new Error(`The WAL archive ends before ${time?.toISOString()}; leave out --until to restore all of it`)
    }
    const to = time?.toISOString() ?? 'the end of the archive'
    print({ json: { data_dir: dataDir, until: time?.toISOString() ?? null }, text: `Restored ${dataDir} to ${to}` })
  },
})

/** PostgreSQL says so in its log only. */
async function endedTooEarly(dataDir: string): Promise<boolean> {
  const log = await toNullIfMissing(readFile(join(dataDir, 'postgres.log'), 'utf8'))
  return log?.includes('recovery ended before configured recovery target was reached') ?? false
}

const WITH_ZONE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

function parseTime(text: string): Date {
  const time = new Date(text)
  if (WITH_ZONE.test(text) && !Number.isNaN(time.getTime())) return time
  throw new UsageError(`--until must be a time with its zone, like 2026-11-23T09:30:00Z, not "${text}"`)
}

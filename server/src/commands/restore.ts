import { updatePlannerStatistics } from '../backup/backup.store.ts'
import { checkOfSecret } from '../backup/create-backup.ts'
import { type Closing, countBackup, describeCounts, describeLost, toMib } from '../backup/manifest.ts'
import { type OpenBackup, openBackup } from '../backup/read-backup.ts'
import { restoreBackup } from '../backup/restore-backup.ts'
import type { Config } from '../config.ts'
import { abandonRestore, completeRestore, startRestore } from '../platform/backup-marks.ts'
import { saveSecret } from '../platform/crypto/secret-key.ts'
import { stopLeftServer, writeToDisk } from '../platform/db/embedded/embedded-postgres.ts'
import type { Sql } from '../platform/db/sql.ts'
import { createLog } from '../platform/log.ts'
import { applyUpdates } from '../start/apply-updates.ts'
import { openForRestore } from '../start/database.ts'
import { openServices } from '../start/open-services.ts'
import { ProgressBar } from '../start/terminal.ts'
import { openBackupFile, unlockOptions } from './backup-file.ts'
import { type Context, defineCommand, waitForStop } from './command.ts'

export const restore = defineCommand({
  name: 'restore',
  about:
    'Restores a backup into an empty data directory, and into an empty database if DATABASE_URL is set. The file - is standard input.',
  arguments: ['file'],
  options: unlockOptions,
  async run(context, { file }, given) {
    const config = context.readSettings()
    const backup = await openBackup(await openBackupFile(file, given))
    const secret = requireSecret(backup, config.secretKey)
    const restored = await restoreInto(config, context, backup, secret)
    const { created_at } = backup.opening
    const counts = countBackup(restored.closing)
    const json = { data_dir: config.dataDir, created_at, migrated: restored.migrated, ...counts }
    const text = [
      `Restored ${describeCounts(counts)}, of ${created_at}, into ${config.dataDir}`,
      ...describeLost(counts),
    ]
    context.print({ json, text: text.join('\n') })
  },
})

/** The secret key of the backup: the one inside, or that of the environment if it was left out. */
function requireSecret({ opening, secret }: OpenBackup, configured: string | null): string {
  if (configured === null && secret === null)
    throw new Error('The backup was made without its secret key; set SHIPLOCK_SECRET_KEY to it')
  const chosen = (configured ?? secret) as string
  if (checkOfSecret(chosen) === opening.secret_key_check) return chosen
  throw new Error(
    configured === null
      ? 'The secret key in the backup is not the one that it was made with'
      : 'SHIPLOCK_SECRET_KEY is not the secret key that the backup was made with',
  )
}

type RestoredAll = { closing: Closing; migrated: string[] }

/** A failure leaves an empty directory and an empty database. */
async function restoreInto(config: Config, context: Context, backup: OpenBackup, secret: string): Promise<RestoredAll> {
  const { dataDir } = config
  await startRestore(dataDir, () => stopLeftServer(dataDir))
  try {
    if (config.secretKey === null) await saveSecret(dataDir, secret)
    const restored = await load(config, context, backup)
    if (config.databaseUrl === null) await writeToDisk(dataDir)
    await completeRestore(dataDir)
    return restored
  } catch (error) {
    await abandonRestore(dataDir)
    throw error
  }
}

async function load(config: Config, { say }: Context, backup: OpenBackup): Promise<RestoredAll> {
  await using opened = new AsyncDisposableStack()
  const database = await openForRestore(config, say)
  opened.defer(() => database.close())
  const log = createLog(config.logLevel)
  const { services, close } = await openServices(config, database, {
    applicationName: 'shiplock restore',
    connections: 1,
    log,
  })
  opened.defer(close)
  const bar = new ProgressBar(say)
  const progress = (done: number, total: number) => bar.reach(toMib(done), toMib(total), 'MiB')
  const { sql } = services
  return await orStopped(sql, async () => {
    const closing = await restoreBackup(backup, { ...services, progress, say })
    bar.end()
    const migrated = await applyUpdates(sql)
    await sql.begin(updatePlannerStatistics)
    return { closing, migrated }
  })
}

/** On SIGTERM or Ctrl-C, disconnects from the database, which rolls back. */
async function orStopped<Result>(sql: Sql, work: () => Promise<Result>): Promise<Result> {
  let isStopped = false
  void waitForStop().then(() => {
    isStopped = true
    return sql.end({ timeout: 0 })
  })
  try {
    return await work()
  } catch (error) {
    throw isStopped ? new Error('The restore was stopped', { cause: error }) : error
  }
}

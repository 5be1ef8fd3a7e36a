import type { Config } from '../config.ts'
import { DAY_MS, HOUR_MS } from '../platform/clock.ts'
import { readArchiver } from '../platform/db/archiver.ts'
import { readLastBackup } from '../platform/last-backup.ts'
import type { Services } from '../services.ts'
import type { Check, Result } from './doctor-finding.ts'

/** A daily backup that takes an hour longer than the one before is not late. */
const BACKUP_LATE_MS = DAY_MS + 2 * HOUR_MS

export function defineBackupChecks(config: Config): readonly Check[] {
  const backups: Check = { check: 'backups', examine: checkBackups }
  return archives(config) ? [backups, { check: 'WAL archive', examine: checkWalArchive }] : [backups]
}

/** An installation without a backup is not failing: it may be new, or have backups of its own. */
async function checkBackups({ config, clock }: Services): Promise<Result> {
  const at = await readLastBackup(config.dataDir)
  if (at === null) return { ok: true, detail: 'no backup was made on this machine yet' }
  const ok = clock.now().getTime() - at.getTime() <= BACKUP_LATE_MS
  return { ok, detail: `the last backup was made at ${at.toISOString()}` }
}

/** Whether the WAL archive is in use, and can be checked. */
function archives({ databaseUrl, walArchive }: Config): boolean {
  return databaseUrl === null && walArchive !== null
}

async function checkWalArchive({ sql, config }: Services): Promise<Result> {
  const { is_on, failing_since, failed_file } = await readArchiver(sql)
  if (!is_on) return { ok: false, detail: 'the database was started without SHIPLOCK_WAL_ARCHIVE' }
  if (failing_since === null) return { ok: true, detail: `the WAL is archived in ${config.walArchive}` }
  const detail = `${failed_file} could not be archived in ${config.walArchive} since ${failing_since.toISOString()}`
  return { ok: false, detail }
}

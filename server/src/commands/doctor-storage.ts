import { stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { readLastBackup } from '../platform/backup-marks.ts'
import { DAY_MS, HOUR_MS } from '../platform/clock.ts'
import { readArchiver } from '../platform/db/embedded/wal-archive.ts'
import { toNullIfMissing } from '../platform/files.ts'
import { loadLogKey } from '../provenance/log/log-key.ts'
import { readKmsPublicKey } from '../provenance/statements/signing-key.ts'
import type { Services } from '../services.ts'
import type { Check, Result } from './doctor-finding.ts'

const PREFLIGHT_MS_MAX = 5_000

/** The checks of what keeps files. Browsers send files only to a bucket. */
export function defineObjectChecks(config: Config): Check[] {
  return [
    { check: 'objects', examine: checkObjects },
    ...(sendsToBucket(config) ? [{ check: 'uploads from browsers', examine: checkBrowserUploads } as const] : []),
    { check: 'disk', examine: checkDisk },
  ]
}

const FREE_SHARE_MIN = 0.05
const FREE_BYTES_MIN = 2 ** 30

/** PostgreSQL stops when the disk is full. */
async function checkDisk({ config: { dataDir } }: Services): Promise<Result> {
  const disk = await toNullIfMissing(statfs(dataDir))
  if (disk === null) return { ok: true, detail: 'there is no data directory' }
  const { bavail, blocks, bsize } = disk
  const [freeBytes, freeShare] = [bavail * bsize, bavail / Math.max(1, blocks)]
  const ok = freeShare >= FREE_SHARE_MIN && freeBytes >= FREE_BYTES_MIN
  const free = `${(freeBytes / 2 ** 30).toFixed(1)} GiB (${Math.floor(freeShare * 100)} %)`
  return { ok, detail: `${free} of the data directory's disk are free` }
}

async function checkObjects({ objects, config }: Services): Promise<Result> {
  await objects.check()
  const place = config.s3 ? `the bucket ${config.s3.bucket}` : 'the data directory'
  return { ok: true, detail: `${place} can be written to` }
}

/** Without a bucket, the pages of the console send files to their own server. */
function sendsToBucket(config: Config): boolean {
  return config.s3 !== null && config.console !== null
}

/**
 * Asks the bucket for permission, as browsers do before they send a file. A bucket that refuses
 * them still serves every other client, so this is no failure of the installation.
 */
async function checkBrowserUploads({ objects, clock, config }: Services): Promise<Result> {
  const expected = { sizeBytes: 1, sha256: '0'.repeat(64), contentType: 'application/octet-stream' }
  const { url, headers } = await objects.presignPut('doctor', expected, clock.now())
  const { origin } = new URL(config.baseUrl)
  const response = await fetch(url, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': Object.keys(headers).join(',').toLowerCase(),
    },
    signal: AbortSignal.timeout(PREFLIGHT_MS_MAX),
  })
  const allowed = response.headers.get('access-control-allow-origin') ?? ''
  const accepts = response.ok && ['*', origin].includes(allowed)
  const detail = accepts
    ? `the bucket accepts files from the pages of ${origin}`
    : `the bucket accepts no files from the pages of ${origin}; add a CORS rule (docs/operations.md)`
  return { ok: true, detail }
}

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

const OTHERS = 0o077

/** A key that was stored with the secret key shows whether it is still the same one. */
export async function checkSecretKey(services: Services): Promise<Result> {
  await loadLogKey(services)
  const { secretKey, dataDir } = services.config
  if (secretKey !== null) return { ok: true, detail: 'SHIPLOCK_SECRET_KEY opens what is stored' }
  const path = join(dataDir, 'secret-key')
  const mode = (await stat(path)).mode & 0o777
  if ((mode & OTHERS) !== 0) return { ok: false, detail: `others can read ${path} (its mode is ${mode.toString(8)})` }
  return { ok: true, detail: `${path} opens what is stored` }
}

/** The check of the key in AWS KMS, if there is one. */
export function defineKmsChecks({ signingKmsKey: name }: Config): Check[] {
  if (name === null) return []
  const examine = async () => {
    await readKmsPublicKey(name)
    return { ok: true, detail: `the key ${name} in AWS KMS can be read` }
  }
  return [{ check: 'signing key', examine }]
}

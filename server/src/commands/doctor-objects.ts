import { statfs } from 'node:fs/promises'
import type { Config } from '../config.ts'
import { toNullIfMissing } from '../platform/files.ts'
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

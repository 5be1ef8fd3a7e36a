import type { Actor } from '../../access/actor.ts'
import { getNextUtcDayStart, getUtcDayStart } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import type { ApiError } from '../../platform/http/api-error.ts'
import { createRateLimitError, limitReached, payloadTooLarge } from '../../platform/http/errors.ts'
import { countUploads, type NewUploadRow } from './upload.store.ts'

const USED_UP_RETRY_SECONDS = 24 * 60 * 60

/** Throws 413 `payload_too_large` for a report that is larger than the plan allows. */
export function checkReportSize({ plan }: Actor, size: number): void {
  const limit = plan.security_report_bytes_max
  if (size <= limit) return
  const message = `/body/size: the plan ${plan.name} allows reports of up to ${limit} bytes`
  throw payloadTooLarge(message, { limit, errors: [{ path: '/body/size', message }] })
}

/** Called for new files only, and under the repository's lock, so that the number is exact. */
export async function checkUploadQuota(tx: Tx, { plan }: Actor, row: NewUploadRow, now: Date): Promise<void> {
  const limit = plan.security_uploads_per_commit_max
  const used = await countUploads(tx, row, getUtcDayStart(now))
  if (used < limit) return
  const reason = 'UPLOADS_PER_COMMIT'
  const message = `The plan ${plan.name} allows ${limit} security uploads per repository and`
  if (row.commit_sha !== null) throw usedUp(`${message} commit.`, { limit, resetAt: null, reason })
  throw createRateLimitError(`${message} UTC day if no commitSha is sent.`, {
    limit,
    resetAt: getNextUtcDayStart(now),
    now,
    reason,
  })
}

/**
 * The count of a commit is never reset: a retry succeeds only after an upload failed or the plan
 * changed.
 */
function usedUp(message: string, details: { limit: number; resetAt: null; reason: string }): ApiError {
  return limitReached(message, details).retryAfter(USED_UP_RETRY_SECONDS)
}

import type { Actor } from '../../access/actor.ts'
import { nextUtcDayStart, utcDayStart } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { ApiError, invalidField, rateLimited } from '../../platform/http/errors.ts'
import { newHexId } from '../../platform/ids.ts'
import { ADDRESS_LIFETIME_MS } from '../../platform/objects/object-store.ts'
import { enqueue } from '../../platform/queue/enqueue.ts'
import { isTracked } from '../../repositories/branch-name.ts'
import type { Services } from '../../services.ts'
import { lockReportedRepository } from '../repositories/reported-repository.store.ts'
import { type ResolvedRepository, resolveRepository } from '../repositories/resolve-repository.ts'
import { adoptNamed } from '../repositories/seen-repository.store.ts'
import { expireUploads } from './expire-uploads.ts'
import { readUploadJob } from './read-upload.job.ts'
import { reportKey } from './report-key.ts'
import type { NewSecurityUpload } from './upload.schema.ts'
import {
  countUploads,
  extendPut,
  insertUpload,
  lockSameFile,
  type NewUploadRow,
  requeueOutdated,
} from './upload.store.ts'
import { findUploadJson } from './upload-view.store.ts'

/** The type that a report is PUT with, whatever its format: the format is read from the contents. */
const CONTENT_TYPE = 'application/json'
const USED_UP_RETRY_SECONDS = 24 * 60 * 60

export type CreatedUpload = {
  json: string
  put: { url: string; headers: Record<string, string> } | null
  created: boolean
}

/**
 * Registers a report and says where to PUT it. The same file for the same repository, category and ref is the same
 * upload, and counts nothing new. Errors: 400 `invalid_request`, `REPOSITORY_AMBIGUOUS`; 413 `payload_too_large`;
 * 429 `rate_limited`.
 */
export async function createUpload(services: Services, actor: Actor, input: NewSecurityUpload): Promise<CreatedUpload> {
  refuseTooLarge(actor, input.size)
  const filename = baseName(input.filename)
  const now = services.clock.now()
  await expireUploads(services).catch((err) => services.log.warn({ err }, 'expired uploads were not cleared away'))
  return services.sql.begin(async (tx) => {
    const repository = await resolveRepository(tx, actor.org_id, {
      name: input.repository,
      provider: input.provider ?? null,
      providerId: input.repositoryId ?? null,
    })
    await adoptNamed(tx, actor.org_id, repository)
    const repositoryNo = await lockReportedRepository(tx, actor.org_id, repository, now)
    const row = toRow(actor, input, filename, repository, repositoryNo, now)
    return register(services, tx, actor, row, now)
  })
}

async function register(
  services: Services,
  tx: Tx,
  actor: Actor,
  row: NewUploadRow,
  now: Date,
): Promise<CreatedUpload> {
  const same = await lockSameFile(tx, row)
  const upload = same ? { ...row, id: same.id } : row
  if (same?.status === 'pending') await extendPut(tx, actor.org_id, same.id, row, now)
  if (same?.status === 'finished') await readAgainIfOutdated(tx, actor.org_id, same.id, now)
  if (!same) {
    await refuseOverQuota(tx, actor, row, now)
    await insertUpload(tx, row, now)
  }
  const json = await findUploadJson(tx, actor.org_id, upload.id, now)
  const awaitsFile = !same || same.status === 'pending'
  return { json: json as string, put: awaitsFile ? await presign(services, actor, upload, now) : null, created: !same }
}

/** Old contents that are reported again after others are the newest word again. Nothing is PUT or counted for it. */
async function readAgainIfOutdated(tx: Tx, orgId: string, id: string, now: Date): Promise<void> {
  if (await requeueOutdated(tx, orgId, id, now)) await enqueue(tx, readUploadJob, { org_id: orgId, upload_id: id })
}

async function presign(
  { objects }: Services,
  actor: Actor,
  upload: { id: string; size: number; sha256: string },
  now: Date,
) {
  const expected = { sizeBytes: upload.size, sha256: upload.sha256, contentType: CONTENT_TYPE }
  const { url, headers } = await objects.presignPut(reportKey(actor.org_id, upload.id), expected, now)
  return { url, headers }
}

function refuseTooLarge({ plan }: Actor, size: number): void {
  const limit = plan.security_report_bytes_max
  if (size <= limit) return
  const message = `/body/size: the plan ${plan.name} takes reports of up to ${limit} bytes`
  throw new ApiError(413, 'payload_too_large', message, { limit, errors: [{ path: '/body/size', message }] })
}

/** Repeats never come here. Counted under the repository's lock, so that the number is exact. */
async function refuseOverQuota(tx: Tx, { plan, org_id }: Actor, row: NewUploadRow, now: Date): Promise<void> {
  const limit = plan.security_uploads_per_commit_max
  const used = await countUploads(tx, org_id, row.repository_no, row.commit_sha, utcDayStart(now))
  if (used < limit) return
  const reason = 'UPLOADS_PER_COMMIT'
  const message = `The plan ${plan.name} takes ${limit} security uploads per repository and`
  if (row.commit_sha !== null) throw usedUp(`${message} commit.`, { limit, resetAt: null, reason })
  throw rateLimited(`${message} day where no commitSha is sent.`, limit, nextUtcDayStart(now), now, { reason })
}

/** A commit's count starts anew at no time: asking again helps only where an upload failed meanwhile or the plan changed. */
function usedUp(message: string, details: { limit: number; resetAt: null; reason: string }): ApiError {
  return new ApiError(429, 'rate_limited', message, details, USED_UP_RETRY_SECONDS)
}

/** Only the last part of a path counts, whichever system wrote it. */
function baseName(filename: string): string {
  const name = filename.split(/[/\\]/).at(-1)?.trim() ?? ''
  if (name === '' || name === '.' || name === '..') throw invalidField('/body/filename', 'must end with a file name')
  return name
}

function toRow(
  actor: Actor,
  input: NewSecurityUpload,
  filename: string,
  repository: ResolvedRepository,
  repositoryNo: number,
  now: Date,
): NewUploadRow {
  const gitRef = input.gitRef || repository.tracked_branch
  return {
    org_id: actor.org_id,
    id: newHexId(),
    repository_no: repositoryNo,
    origin: 'api',
    requested_format: input.format,
    filename,
    size: input.size,
    sha256: input.sha256,
    category: input.category || null,
    git_ref: gitRef,
    commit_sha: input.commitSha ?? null,
    tracked: input.tracked ?? isTracked(gitRef, repository.tracked_branch),
    put_until: new Date(now.getTime() + ADDRESS_LIFETIME_MS),
    artifact: null,
  }
}

import { type Actor, toPrincipal } from '../../access/actor.ts'
import { insertAuditEntry } from '../../audit/audit.store.ts'
import { readTokenTrust } from '../../ci/runs/token-repository.ts'
import { getNextUtcDayStart, getUtcDayStart } from '../../platform/clock.ts'
import type { Tx } from '../../platform/db/sql.ts'
import {
  createInvalidFieldError,
  createRateLimitError,
  limitReached,
  payloadTooLarge,
} from '../../platform/http/errors.ts'
import { createHexId } from '../../platform/ids.ts'
import { ADDRESS_LIFETIME_MS } from '../../platform/objects/object-store.ts'
import { publish } from '../../platform/queue/event.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { isTracked } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { type SeenAgain, updateSeenAgain } from '../reconcile/finding-stream.store.ts'
import { lockReportedRepository } from '../repositories/reported-repository.store.ts'
import { updateNamedRepository } from '../repositories/seen-repository.store.ts'
import {
  type RepositoryReference,
  type ResolvedRepository,
  selectRepository,
} from '../repositories/select-repository.ts'
import type { UploadOrigin } from '../vocabulary/finding.ts'
import { expireUploads } from './expire-uploads.job.ts'
import { readUploadJob, uploadFinished } from './read-upload.job.ts'
import { requireRepositoryOfKey, requireTokenRepository } from './token-upload.ts'
import type { NewSecurityUpload } from './upload.schema.ts'
import {
  countUploads,
  insertUpload,
  lockSameFile,
  type NewUploadRow,
  type StoredUpload,
  updateOutdatedUpload,
  updatePutTime,
  updateReportedCommit,
  updateUploadTrust,
} from './upload.store.ts'
import { type PutAddress, signReportPut } from './upload-file.ts'
import type { UploadTrust } from './upload-state.store.ts'
import { findUploadJson } from './upload-view.store.ts'

export type CreatedUpload = {
  id: string
  json: string
  put: PutAddress | null
  created: boolean
}

/**
 * Registers a report and returns where to PUT it. The same file for the same repository, category
 * and ref returns the existing upload and does not count against the limit. If it names another
 * commit, the findings of the file are attributed to this commit. Throws 400 `invalid_request` or
 * `REPOSITORY_AMBIGUOUS`, 403 `forbidden` if a token names another repository than its own, 413
 * `payload_too_large`, and 429 `rate_limited`.
 */
export async function createUpload(services: Services, actor: Actor, input: NewSecurityUpload): Promise<CreatedUpload> {
  checkReportSize(actor, input.size)
  const file = { ...input, filename: baseName(input.filename) }
  const now = services.clock.now()
  await expireUploads(services).catch((err) => services.log.warn({ err }, 'Could not remove expired uploads'))
  const registered = await services.sql.begin(async (tx) => {
    const { trust, ...reference } = await readSource(tx, actor, input)
    const repository = await selectRepository(tx, actor.org_id, reference)
    await requireRepositoryOfKey(tx, actor, { ...repository, providerId: repository.provider_id })
    await updateNamedRepository(tx, actor.org_id, repository)
    const repositoryNo = await lockReportedRepository(tx, actor.org_id, repository, now)
    const origin: UploadOrigin = actor.credential.type === 'user' ? 'ui' : 'api'
    const sender = { trust, origin, created_by: actor.credential.type === 'oidc_trust' ? null : toPrincipal(actor) }
    const row = { ...toRow(actor.org_id, file, { ...repository, no: repositoryNo }, now), ...sender } as const
    const result = await register(services, tx, { actor, row, now })
    if (result.created && origin === 'ui') await recordUpload(tx, actor, { row, repository: repository.name }, now)
    return result
  })
  const { seenAgain, ...created } = registered
  if (seenAgain !== null) await seeAgain(services, seenAgain)
  return created
}

/** The repository that the report is for, and how far the actor can be trusted. */
async function readSource(
  tx: Tx,
  { org_id, credential }: Actor,
  { repository, provider = null, repositoryId = null }: NewSecurityUpload,
): Promise<RepositoryReference & { trust: UploadTrust }> {
  const asked = { name: repository, provider, providerId: repositoryId }
  if (credential.type !== 'oidc_trust') return { ...asked, trust: 'uploaded' }
  const { job } = credential
  const own = await requireTokenRepository(tx, org_id, job, asked)
  return { ...own, trust: job === null ? 'self_reported' : await readTokenTrust(tx, org_id, job) }
}

type Registration = { actor: Actor; row: NewUploadRow; now: Date }
type Registered = CreatedUpload & { seenAgain: SeenAgain | null }

async function register(services: Services, tx: Tx, { actor, row, now }: Registration): Promise<Registered> {
  const same = await lockSameFile(tx, row)
  const upload = same ? { ...row, id: same.id } : row
  if (same?.status === 'pending') await updatePutTime(tx, upload, now)
  if (same && same.trust !== row.trust) await updateUploadTrust(tx, upload)
  const seenAgain = same && (await submitAgain(tx, same, row, now))
  if (!same) {
    await checkUploadQuota(tx, actor, row, now)
    await insertUpload(tx, row, now)
  }
  const json = await findUploadJson(tx, actor.org_id, upload.id, now)
  const awaitsFile = !same || same.status === 'pending'
  const put = awaitsFile ? await signReportPut(services, upload, now) : null
  return { id: upload.id, json: json as string, put, created: !same, seenAgain }
}

type Uploaded = { row: NewUploadRow; repository: string }

/** Uploads of people are recorded. Those of API keys and CI jobs are no changes by a person. */
async function recordUpload(tx: Tx, actor: Actor, { row, repository }: Uploaded, now: Date): Promise<void> {
  const { id, filename, sha256, git_ref } = row
  const object = { type: 'security_upload', id }
  const details = { filename, sha256, repository, git_ref }
  const entry = { principal: toPrincipal(actor), action: 'security_upload.create', object, reason: null, details }
  await insertAuditEntry(tx, actor.org_id, entry, now)
}

/**
 * Reads a finished report again if another one was submitted after it. Its file is stored already.
 * Returns what is to be recorded if its findings are current and were seen in another commit.
 */
async function submitAgain(tx: Tx, same: StoredUpload, row: NewUploadRow, now: Date): Promise<SeenAgain | null> {
  const isOutdated = same.status === 'finished' && (await updateOutdatedUpload(tx, same, now))
  if (isOutdated) await enqueue(tx, readUploadJob, { org_id: same.org_id, upload_id: same.id })
  const { org_id, repository_no, commit_sha } = row
  if (commit_sha === null) return null
  await updateReportedCommit(tx, same, commit_sha, now)
  const isCurrent = same.status === 'finished' && !isOutdated
  return isCurrent ? { org_id, repository_no, upload_id: same.id, commit_sha, at: now } : null
}

/**
 * In a transaction of its own, because reports lock their streams before their repository. If it
 * fails, the same request can be sent again.
 */
async function seeAgain({ sql }: Services, seen: SeenAgain): Promise<void> {
  const { org_id, upload_id } = seen
  await sql.begin(async (tx) => {
    if (await updateSeenAgain(tx, seen)) await publish(tx, uploadFinished, { org_id, upload_id })
  })
}

/** The last part of a path with slashes or backslashes. Throws 400 if it is not a file name. */
function baseName(filename: string): string {
  const name = filename.split(/[/\\]/).at(-1)?.trim() ?? ''
  if (name === '' || name === '.' || name === '..')
    throw createInvalidFieldError('/body/filename', 'must end with a file name')
  return name
}

function toRow(
  orgId: string,
  input: NewSecurityUpload,
  repository: ResolvedRepository & { no: number },
  now: Date,
): Omit<NewUploadRow, 'trust' | 'origin' | 'created_by'> {
  const gitRef = input.gitRef || repository.tracked_branch
  return {
    org_id: orgId,
    id: createHexId(),
    repository_no: repository.no,
    requested_format: input.format,
    filename: input.filename,
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

const USED_UP_RETRY_SECONDS = 24 * 60 * 60

/** Throws 413 `payload_too_large` for a report that is larger than the plan allows. */
function checkReportSize({ plan }: Actor, size: number): void {
  const limit = plan.security_report_bytes_max
  if (size <= limit) return
  const message = `/body/size: the plan ${plan.name} allows reports of up to ${limit} bytes`
  throw payloadTooLarge(message, { limit, errors: [{ path: '/body/size', message }] })
}

/** Called for new files only, and under the repository's lock, so that the number is exact. */
async function checkUploadQuota(tx: Tx, { plan }: Actor, row: NewUploadRow, now: Date): Promise<void> {
  const limit = plan.security_uploads_per_commit_max
  const used = await countUploads(tx, row, getUtcDayStart(now))
  if (used < limit) return
  const reason = 'UPLOADS_PER_COMMIT'
  const message = `The plan ${plan.name} allows ${limit} security uploads per repository and`
  if (row.commit_sha !== null) {
    // The count of a commit is never reset: a retry succeeds only after an upload failed or the
    // plan changed.
    throw limitReached(`${message} commit.`, { limit, resetAt: null, reason }).retryAfter(USED_UP_RETRY_SECONDS)
  }
  throw createRateLimitError(`${message} UTC day if no commitSha is sent.`, {
    limit,
    resetAt: getNextUtcDayStart(now),
    now,
    reason,
  })
}

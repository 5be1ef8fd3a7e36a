import { type Actor, toPrincipal } from '../../access/actor.ts'
import { insertAuditEntry } from '../../audit/audit.store.ts'
import { normalizeName } from '../../codehosts/catalogue.ts'
import { updateSbomSeenAgain } from '../../inventory/sboms/record-sbom.ts'
import { isRepositoryVexAccepted } from '../../organizations/organization.store.ts'
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
import { hasEndedStream, type SeenAgain, updateSeenAgain } from '../reconcile/finding-stream.store.ts'
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
import {
  findLaneOfOther,
  requireRepositoryOfKey,
  requireTokenRepository,
  requireTokenStatement,
  type Stated,
} from './token-upload.ts'
import type { NewSecurityUpload } from './upload.schema.ts'
import {
  countUploads,
  hasNewerFile,
  insertUpload,
  insertUploadLane,
  lockSameFile,
  type NewUploadRow,
  type StoredUpload,
  updateSharedFile,
  updateUploadLane,
} from './upload.store.ts'
import { type PutAddress, signReportPut } from './upload-file.ts'
import { updateQueued } from './upload-state.store.ts'
import { findUploadJson } from './upload-view.store.ts'
import { requireRoom } from './waiting-uploads.ts'

export type CreatedUpload = {
  id: string
  json: string
  put: PutAddress | null
  created: boolean
}

/**
 * Registers a report and returns where to PUT it. The same file for the same repository, category
 * and ref returns the existing upload and does not count against the limit: it gets the lane of the
 * sender, whose streams then have its findings too (decisions §7). If it names another commit, the
 * findings of the file in this lane are attributed to this commit. Throws 400 `invalid_request` or
 * `REPOSITORY_AMBIGUOUS`, 403 `forbidden` if a token names another repository than its own, 413
 * `payload_too_large`, and 429 `rate_limited`.
 */
export async function createUpload(services: Services, actor: Actor, input: NewSecurityUpload): Promise<CreatedUpload> {
  checkReportSize(actor, input.size)
  const file = { ...input, filename: baseName(input.filename) }
  const now = services.clock.now()
  await expireUploads(services).catch((err) => services.log.warn({ err }, 'Could not remove expired uploads'))
  const registered = await services.sql.begin(async (tx) => {
    const { stated, isOfOther = false, ...reference } = await readSource(tx, actor, input)
    const repository = await selectRepository(tx, actor.org_id, reference)
    await requireRepositoryOfKey(tx, actor, { ...repository, providerId: repository.provider_id })
    await updateNamedRepository(tx, actor.org_id, repository)
    const repositoryNo = await lockReportedRepository(tx, actor.org_id, repository, now)
    const origin: UploadOrigin = actor.credential.type === 'user' ? 'ui' : 'api'
    const sender = { origin, created_by: actor.credential.type === 'oidc_trust' ? null : toPrincipal(actor) }
    const mayTriage = !isOfOther && (await canTriage(tx, actor, stated))
    const reported = { ...repository, no: repositoryNo }
    const row = { ...toRow(actor, { file, repository: reported, stated, mayTriage, now }), ...sender }
    const result = await register(services, tx, { actor, row, now })
    if (result.created && origin === 'ui') await recordUpload(tx, actor, { row, repository: repository.name }, now)
    return result
  })
  const { seenAgain, ...created } = registered
  if (seenAgain !== null) await seeAgain(services, seenAgain)
  return created
}

/** The repository that the report is for, and what the sender states about it. */
async function readSource(
  tx: Tx,
  { org_id, credential }: Actor,
  { repository, provider = null, repositoryId = null, gitRef, commitSha }: NewSecurityUpload,
): Promise<RepositoryReference & { stated: Stated; isOfOther?: boolean }> {
  const asked = { name: normalizeName(provider, repository), provider, providerId: repositoryId }
  const stated = { git_ref: gitRef || null, commit_sha: commitSha ?? null }
  if (credential.type === 'user') return { ...asked, stated: { ...stated, lane: 'person' } }
  if (credential.type === 'api_key') return { ...asked, stated: { ...stated, lane: 'key' } }
  const lane = await findLaneOfOther(tx, org_id, credential.job, asked)
  if (lane !== null) return { ...asked, stated: { ...stated, lane }, isOfOther: true }
  const { job, ...own } = await requireTokenRepository(tx, org_id, credential.job, asked)
  return { ...own, stated: await requireTokenStatement(tx, org_id, job, stated) }
}

/**
 * Whether a VEX document of the sender takes effect at once (decisions §7). A job has no
 * permissions: the organization decides whether it may speak for its own repository.
 */
async function canTriage(tx: Tx, { org_id, credential }: Actor, { lane }: Stated): Promise<boolean> {
  if (credential.type === 'user') return credential.permissions.includes('triage')
  if (credential.type === 'api_key') return credential.scopes.includes('write:triage')
  return lane === 'verified' && (await isRepositoryVexAccepted(tx, org_id))
}

type Registration = { actor: Actor; row: NewUploadRow; now: Date }
type Registered = CreatedUpload & { seenAgain: SeenAgain | null }

async function register(services: Services, tx: Tx, { actor, row, now }: Registration): Promise<Registered> {
  const same = await lockSameFile(tx, row)
  const upload = same ? { ...row, id: same.id } : row
  if (!same || same.status === 'pending') await requireRoom(tx, toWaiting(upload), now)
  if (same) await updateSharedFile(tx, upload, now)
  const seenAgain = same && (await stateAgain(tx, same, row, now))
  if (!same) {
    await checkUploadQuota(tx, actor, row, now)
    await insertUpload(tx, row, now)
  }
  const json = await findUploadJson(tx, actor.org_id, upload.id, { now })
  const awaitsFile = !same || same.status === 'pending'
  const put = awaitsFile ? await signReportPut(services, upload, now) : null
  return { id: upload.id, json: json as string, put, created: !same, seenAgain }
}

function toWaiting({ org_id, id, lane, size }: NewUploadRow) {
  return { org_id, id, lane, uploads: 1, bytes: size }
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
 * Records that a stored file was sent again. It is read again if this lane has not sent it before,
 * or has sent another one since, or says anew whether it is complete, or if its stream was ended.
 * Who sends it as the newest again vouches for it alone: it has no more permission than they have.
 * Returns what is to be recorded if its findings are current and were seen in another commit.
 */
async function stateAgain(tx: Tx, same: StoredUpload, row: NewUploadRow, now: Date): Promise<SeenAgain | null> {
  const { org_id, repository_no, lane, commit_sha } = row
  const before = await insertUploadLane(tx, same, row, now)
  const isFinished = same.status === 'finished'
  const isRaised = row.may_triage && before?.may_triage === false
  const isOutdated =
    isFinished &&
    before !== null &&
    ((await hasNewerFile(tx, same, before, now)) || (await hasEndedStream(tx, same, lane)))
  const isCompleted = before !== null && row.complete !== null && row.complete !== before.complete
  const isNewest = isRaised || isOutdated || isCompleted
  const isRead = isFinished && (before === null || isNewest)
  if (isRead) {
    await requireRoom(tx, toWaiting({ ...row, id: same.id }), now)
    await updateQueued(tx, { ...same, lane }, now)
    await enqueue(tx, readUploadJob, { org_id, upload_id: same.id })
  }
  if (before === null) return null
  const isOtherCommit = commit_sha !== null && commit_sha !== before.commit_sha
  if (isNewest || isOtherCommit) {
    const { may_triage, sender_id, sender_name } = isNewest ? row : before
    const complete = row.complete ?? before.complete
    const newer = { lane, commit_sha, complete, reported_at: now, may_triage, sender_id, sender_name }
    await updateUploadLane(tx, same, newer)
  }
  return isFinished && !isRead && commit_sha !== null
    ? { org_id, repository_no, upload_id: same.id, lane, commit_sha, at: now }
    : null
}

/**
 * In a transaction of its own, because reports lock their streams before their repository. If it
 * fails, the same request can be sent again.
 */
async function seeAgain({ sql }: Services, seen: SeenAgain): Promise<void> {
  const { org_id, upload_id } = seen
  await sql.begin(async (tx) => {
    await updateSbomSeenAgain(tx, seen)
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

type Place = {
  file: NewSecurityUpload
  repository: ResolvedRepository & { no: number }
  stated: Stated
  mayTriage: boolean
  now: Date
}

/** Findings of code of strangers open no issues, whatever the request says (decisions §7). */
function toRow({ org_id, credential }: Actor, place: Place): Omit<NewUploadRow, 'origin' | 'created_by'> {
  const { file, repository, stated, mayTriage, now } = place
  const { lane, commit_sha } = stated
  const gitRef = stated.git_ref ?? repository.tracked_branch
  return {
    org_id,
    id: createHexId(),
    repository_no: repository.no,
    requested_format: file.format,
    filename: file.filename,
    size: file.size,
    sha256: file.sha256,
    category: file.category || null,
    git_ref: gitRef,
    lane,
    commit_sha,
    tracked: lane !== 'untrusted' && (file.tracked ?? isTracked(gitRef, repository.tracked_branch)),
    complete: file.complete ?? null,
    may_triage: mayTriage,
    sender_id: credential.id,
    sender_name: credential.name,
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

import type { Db, Tx } from '../platform/db/sql.ts'
import type { ReportFormat } from './parsers/parsed-report.ts'

export type NewUploadRow = {
  org_id: string
  id: string
  repository_no: number
  origin: 'ui' | 'api' | 'report'
  requested_format: 'auto' | ReportFormat
  filename: string
  size: number
  sha256: string
  category: string | null
  git_ref: string | null
  commit_sha: string | null
  tracked: boolean
  put_until: Date
  /** Where the file is an artifact of a job's report, and nobody has to PUT it. */
  artifact: { id: string; runId: string } | null
}

/** Stores an upload, pending until its file is PUT. Null when the same file is there already, unless that one failed. */
export async function insertUpload(db: Db, upload: NewUploadRow, at: Date): Promise<string | null> {
  const rows = await db`
    insert into security_uploads (
      org_id, id, repository_no, origin, status, requested_format, filename, size, sha256, category, git_ref,
      commit_sha, tracked, put_until, artifact_id, run_id, reported_at, created_at, updated_at
    )
    values (
      ${upload.org_id}, ${upload.id}, ${upload.repository_no}, ${upload.origin},
      ${upload.artifact ? 'queued' : 'pending'}, ${upload.requested_format},
      ${upload.filename}, ${upload.size}, ${upload.sha256}, ${upload.category}, ${upload.git_ref}, ${upload.commit_sha},
      ${upload.tracked}, ${upload.put_until}, ${upload.artifact?.id ?? null}, ${upload.artifact?.runId ?? null}, ${at}, ${at}, ${at}
    )
    on conflict do nothing`
  return rows.count === 1 ? upload.id : null
}

export type StoredUpload = { id: string; status: string }

/** The upload of the same file, locked until the transaction ends; failed ones do not count. */
export async function lockSameFile(tx: Tx, upload: NewUploadRow): Promise<StoredUpload | null> {
  const [row] = await tx<StoredUpload[]>`
    select id, status
    from security_uploads
    where org_id = ${upload.org_id}
      and repository_no = ${upload.repository_no}
      and coalesce(category, '') = coalesce(${upload.category}::text, '')
      and branch_name(git_ref) = branch_name(${upload.git_ref})
      and sha256 = ${upload.sha256}
      and status <> 'failed'
      and origin <> 'report'
    for update`
  return row ?? null
}

/** Gives a pending upload more time for its PUT, and the size that was announced last: one that was wrong can be put right. */
export async function extendPut(
  db: Db,
  orgId: string,
  id: string,
  put: Pick<NewUploadRow, 'put_until' | 'size'>,
  at: Date,
): Promise<void> {
  await db`
    update security_uploads
    set put_until = ${put.put_until}, size = ${put.size}, updated_at = ${at}
    where org_id = ${orgId}
      and id = ${id}
      and status = 'pending'`
}

/** Uploads that count for a commit, or, where none was sent, for the UTC day. Failed ones do not. */
export async function countUploads(db: Db, orgId: string, repositoryNo: number, commitSha: string | null, day: Date) {
  const [row] = await db<[{ count: number }]>`
    select count(*) as count
    from security_uploads
    where org_id = ${orgId}
      and repository_no = ${repositoryNo}
      and commit_sha is not distinct from ${commitSha}::text
      and status <> 'failed'
      and origin <> 'report'
      ${commitSha === null ? db`and created_at >= ${day}` : db``}`
  return row.count
}

/** Uploads from reports of one run, which count apart from those that clients create. Failed ones do not. */
export async function countRunUploads(db: Db, orgId: string, runId: string): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*) as count
    from security_uploads
    where org_id = ${orgId}
      and run_id = ${runId}
      and status <> 'failed'`
  return row.count
}

/**
 * Makes a finished upload the newest word of its stream again, and true, when another file was reported after it:
 * somebody went back. False when it still is the newest.
 */
export async function requeueOutdated(tx: Tx, orgId: string, id: string, at: Date): Promise<boolean> {
  const rows = await tx`
    update security_uploads upload
    set status = 'queued', outcome = null, findings = 0, reported_at = ${at}, updated_at = ${at}
    where upload.org_id = ${orgId}
      and upload.id = ${id}
      and upload.status = 'finished'
      and exists (
        select from security_uploads newer
        where newer.org_id = upload.org_id
          and newer.repository_no = upload.repository_no
          and (
            coalesce(newer.category, '') = coalesce(upload.category, '')
            or coalesce(newer.category, newer.report_category) = coalesce(upload.category, upload.report_category)
          )
          and branch_name(newer.git_ref) = branch_name(upload.git_ref)
          and newer.reported_at > upload.reported_at
          and newer.status <> 'failed'
      )`
  return rows.count === 1
}

export type UploadToComplete = { status: string; size: number; sha256: string; put_until: Date }

export async function findUploadToComplete(db: Db, orgId: string, id: string): Promise<UploadToComplete | null> {
  const [row] = await db<UploadToComplete[]>`
    select status, size, sha256, put_until
    from security_uploads
    where org_id = ${orgId}
      and id = ${id}`
  return row ?? null
}

export async function lockUploadToComplete(tx: Tx, orgId: string, id: string): Promise<UploadToComplete | null> {
  const [row] = await tx<UploadToComplete[]>`
    select status, size, sha256, put_until
    from security_uploads
    where org_id = ${orgId}
      and id = ${id}
    for update`
  return row ?? null
}

export async function markQueued(db: Db, orgId: string, id: string, at: Date): Promise<void> {
  await db`
    update security_uploads
    set status = 'queued', updated_at = ${at}
    where org_id = ${orgId}
      and id = ${id}`
}

/** Ends an upload that is not finished with the reason for its owner. */
export async function markFailed(
  db: Db,
  orgId: string,
  id: string,
  failure: { error: string; format: ReportFormat | null },
  at: Date,
): Promise<void> {
  await db`
    update security_uploads
    set status = 'failed', error = ${failure.error}, format = ${failure.format}, findings = 0, components = 0,
      updated_at = ${at}
    where org_id = ${orgId}
      and id = ${id}
      and status not in ('finished', 'failed')`
}

export type UploadToRead = {
  repository_no: number
  requested_format: 'auto' | ReportFormat
  origin: 'ui' | 'api' | 'report'
  category: string | null
  git_ref: string | null
  commit_sha: string | null
  tracked: boolean
  artifact_id: string | null
  reported_at: Date
}

/** queued → parsing, or parsing again after a crash. Null when the upload has ended. */
export async function startParsing(db: Db, orgId: string, id: string, at: Date): Promise<UploadToRead | null> {
  const [row] = await db<UploadToRead[]>`
    update security_uploads
    set status = 'parsing', findings = 0, updated_at = ${at}
    where org_id = ${orgId}
      and id = ${id}
      and status in ('queued', 'parsing')
    returning repository_no, requested_format, origin, category, git_ref, commit_sha, tracked, artifact_id,
      reported_at`
  return row ?? null
}

export async function noteProgress(db: Db, orgId: string, id: string, findings: number, at: Date): Promise<void> {
  await db`
    update security_uploads
    set findings = ${findings}, updated_at = ${at}
    where org_id = ${orgId}
      and id = ${id}
      and status = 'parsing'`
}

export type UploadOutcome = {
  created: number
  updated: number
  unchanged: number
  resolved: number
  openBySeverity: { critical: number; high: number; medium: number; low: number }
  newIssues: number
  newCritical: number
  newHigh: number
}

export type FinishedUpload = {
  format: ReportFormat
  /** What the report itself names. */
  category: string | null
  findings: number
  components: number
  truncated: boolean
  warnings: string[]
  outcome: UploadOutcome
}

/** parsing → finished. False when the upload ended meanwhile: the caller's transaction must not stand. */
export async function markFinished(tx: Tx, orgId: string, id: string, result: FinishedUpload, at: Date) {
  const rows = await tx`
    update security_uploads
    set status = 'finished', format = ${result.format}, report_category = ${result.category},
      findings = ${result.findings}, components = ${result.components}, outcome = ${tx.json(result.outcome)},
      truncated = ${result.truncated}, warnings = ${result.warnings}, updated_at = ${at}
    where org_id = ${orgId}
      and id = ${id}
      and status = 'parsing'`
  return rows.count === 1
}

const EXPIRED_AT_ONCE_MAX = 500
/** What a pending upload says after its 15 minutes (decisions §7). */
export const UPLOAD_EXPIRED = 'upload expired'

/** Ends pending uploads that nobody completed in time. Returns the ids, whose files can go. */
export async function failExpiredUploads(db: Db, now: Date): Promise<{ org_id: string; id: string }[]> {
  return db<{ org_id: string; id: string }[]>`
    update security_uploads upload
    set status = 'failed', error = ${UPLOAD_EXPIRED}, updated_at = upload.put_until
    from (
      select org_id, id
      from security_uploads
      where status = 'pending'
        and put_until <= ${now}
      order by put_until
      limit ${EXPIRED_AT_ONCE_MAX}
      for update skip locked
    ) expired
    where (upload.org_id, upload.id) = (expired.org_id, expired.id)
    returning upload.org_id, upload.id`
}

/** The wire form of an upload. A pending one past its time reads as failed, whether or not the sweeper has been there. */
export async function readUpload(db: Db, orgId: string, id: string, now: Date): Promise<string | null> {
  const [row] = await db<{ json: string }[]>`
    select row_to_json(item)::text as json
    from (
      select upload.id, upload.origin,
        case when ${isExpired(db, now)} then 'failed' else upload.status end as status,
        upload.format, upload.filename, upload.size, repository.name as repository, repository.provider,
        repository.provider_id as repository_id, coalesce(upload.category, upload.report_category) as category,
        upload.git_ref, upload.commit_sha, upload.tracked,
        ${countsJson(db)} as counts, upload.truncated, upload.warnings,
        case when ${isExpired(db, now)} then ${UPLOAD_EXPIRED} else upload.error end as error,
        rfc3339(upload.created_at) as created_at,
        rfc3339(case when ${isExpired(db, now)} then upload.put_until else upload.updated_at end) as updated_at
      from security_uploads upload
      join reported_repositories repository
        on repository.org_id = upload.org_id and repository.id = upload.repository_no
      where upload.org_id = ${orgId}
        and upload.id = ${id}
    ) item`
  return row?.json ?? null
}

function isExpired(db: Db, now: Date) {
  return db`(upload.status = 'pending' and upload.put_until <= ${now})`
}

const NO_OUTCOME: UploadOutcome = {
  created: 0,
  updated: 0,
  unchanged: 0,
  resolved: 0,
  openBySeverity: { critical: 0, high: 0, medium: 0, low: 0 },
  newIssues: 0,
  newCritical: 0,
  newHigh: 0,
}

function countsJson(db: Db) {
  return db`
    jsonb_build_object('findings', upload.findings, 'components', upload.components)
      || coalesce(upload.outcome, ${db.json(NO_OUTCOME)}::jsonb)`
}

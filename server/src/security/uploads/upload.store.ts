import type { Principal } from '../../audit/audit.store.ts'
import type { ReportFigures } from '../../ci/reports/attestation.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { UploadFormat } from '../formats/catalogue.ts'
import type { UploadOrigin } from '../vocabulary/finding.ts'
import type { UploadKey, UploadTrust } from './upload-state.store.ts'

export type NewUploadRow = {
  org_id: string
  id: string
  repository_no: number
  origin: UploadOrigin
  requested_format: 'auto' | UploadFormat
  filename: string
  size: number
  sha256: string
  category: string | null
  git_ref: string | null
  commit_sha: string | null
  tracked: boolean
  trust: UploadTrust
  /** Null for a CI job. */
  created_by: Principal | null
  put_until: Date
  /** The artifact that has the file, for an upload from a CI report. Null if the file is PUT. */
  artifact: { id: string; runId: string } | null
}

/**
 * Inserts an upload. Returns its id, or null if the same file was uploaded before and did not fail.
 */
export async function insertUpload(db: Db, upload: NewUploadRow, at: Date): Promise<string | null> {
  const rows = await db`
    insert into security_uploads (
      org_id, id, repository_no, origin, status, requested_format, filename, size, sha256, category, git_ref,
      commit_sha, tracked, trust, created_by_type, created_by_id, created_by_name, put_until, artifact_id, run_id,
      reported_at, created_at, updated_at
    )
    values (
      ${upload.org_id}, ${upload.id}, ${upload.repository_no}, ${upload.origin},
      ${upload.artifact ? 'queued' : 'pending'}, ${upload.requested_format},
      ${upload.filename}, ${upload.size}, ${upload.sha256}, ${upload.category}, ${upload.git_ref}, ${upload.commit_sha},
      ${upload.tracked}, ${upload.trust}, ${upload.created_by?.type ?? null}, ${upload.created_by?.id ?? null},
      ${upload.created_by?.name ?? null}, ${upload.put_until}, ${upload.artifact?.id ?? null},
      ${upload.artifact?.runId ?? null}, ${at}, ${at}, ${at}
    )
    on conflict do nothing`
  return rows.count === 1 ? upload.id : null
}

export type StoredUpload = UploadKey & { status: string; trust: UploadTrust }

/** The upload of the same file that did not fail, locked until the transaction ends. */
export async function lockSameFile(tx: Tx, upload: NewUploadRow): Promise<StoredUpload | null> {
  const [row] = await tx<StoredUpload[]>`
    select org_id, id, status, trust
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

/** Stores the trust of the credential that submitted a file last. */
export async function updateUploadTrust(
  db: Db,
  { org_id, id, trust }: Pick<NewUploadRow, 'org_id' | 'id' | 'trust'>,
): Promise<void> {
  await db`
    update security_uploads
    set trust = ${trust}
    where org_id = ${org_id}
      and id = ${id}`
}

/**
 * Gives a pending upload more time for its PUT, and the newest size, so that a wrong size can be
 * corrected.
 */
export async function updatePutTime(
  db: Db,
  upload: Pick<NewUploadRow, 'org_id' | 'id' | 'put_until' | 'size'>,
  at: Date,
): Promise<void> {
  await db`
    update security_uploads
    set put_until = ${upload.put_until}, size = ${upload.size}, updated_at = ${at}
    where org_id = ${upload.org_id}
      and id = ${upload.id}
      and status = 'pending'`
}

/**
 * Counts the uploads of a commit, or without a commit those since `since`. Failed ones do not
 * count.
 */
export async function countUploads(
  db: Db,
  { org_id: orgId, repository_no: repositoryNo, commit_sha: commitSha }: NewUploadRow,
  since: Date,
): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*) as count
    from security_uploads
    where org_id = ${orgId}
      and repository_no = ${repositoryNo}
      and commit_sha is not distinct from ${commitSha}::text
      and status <> 'failed'
      and origin <> 'report'
      ${commitSha === null ? db`and created_at >= ${since}` : db``}`
  return row.count
}

/**
 * Counts the uploads from reports of a run. They have their own limit. Failed ones do not count.
 */
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
 * Queues a finished upload again as the newest of its streams, if another file was submitted since.
 * The same time counts as later, because it does not tell which file is newer.
 */
export async function updateOutdatedUpload(tx: Tx, { org_id, id }: UploadKey, at: Date): Promise<boolean> {
  const rows = await tx`
    update security_uploads upload
    set status = 'queued', outcome = null, findings = 0, reported_at = ${at}, updated_at = ${at}
    where upload.org_id = ${org_id}
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
          and newer.id <> upload.id
          and newer.reported_at >= upload.reported_at
          and newer.reported_at <= ${at}
          and newer.status <> 'failed'
      )`
  return rows.count === 1
}

/**
 * Records that a file was submitted again for another commit. Its findings are attributed to this
 * commit, while the upload keeps the commit of its first request. A request that is older than the
 * newest one changes nothing.
 */
export async function updateReportedCommit(
  tx: Tx,
  { org_id, id }: UploadKey,
  commitSha: string,
  at: Date,
): Promise<void> {
  await tx`
    update security_uploads
    set reported_commit_sha = ${commitSha}, reported_at = ${at}
    where org_id = ${org_id}
      and id = ${id}
      and reported_at <= ${at}
      and coalesce(reported_commit_sha, commit_sha) is distinct from ${commitSha}`
}

/** failed → queued, for an artifact's upload. Returns its id, or null when it has not failed. */
export async function updateFailedArtifact(
  tx: Tx,
  orgId: string,
  artifactId: string,
  at: Date,
): Promise<string | null> {
  const [row] = await tx<{ id: string }[]>`
    update security_uploads
    set status = 'queued', error = null, format = null, updated_at = ${at}
    where org_id = ${orgId}
      and artifact_id = ${artifactId}
      and status = 'failed'
    returning id`
  return row?.id ?? null
}

/** Returns null until the report in the artifact has been read successfully. */
export async function findArtifactFigures(db: Db, orgId: string, artifactId: string): Promise<ReportFigures | null> {
  const [row] = await db<ReportFigures[]>`
    select format, findings, components, outcome -> 'openBySeverity' as "openBySeverity"
    from security_uploads
    where org_id = ${orgId}
      and artifact_id = ${artifactId}
      and status = 'finished'`
  return row ?? null
}

import type { Lane } from '../../ci/runs/trust.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { UploadFormat } from '../formats/catalogue.ts'
import type { ReportError } from '../formats/report/parsed-report.ts'
import type { MatchCounts } from '../matches/reconcile-matches.ts'
import type { HeldFindings, ReconcileOutcome } from '../reconcile/reconcile-report.ts'
import type { UploadOrigin } from '../vocabulary/finding.ts'

/** What identifies an upload. */
export type UploadKey = { org_id: string; id: string }

export type UploadToComplete = { status: string; size: number; sha256: string; put_until: Date }

export async function findUploadToComplete(db: Db, { org_id, id }: UploadKey): Promise<UploadToComplete | null> {
  const [row] = await db<UploadToComplete[]>`
    select status, size, sha256, put_until
    from security_uploads
    where org_id = ${org_id}
      and id = ${id}`
  return row ?? null
}

export async function lockUploadToComplete(tx: Tx, { org_id, id }: UploadKey): Promise<UploadToComplete | null> {
  const [row] = await tx<UploadToComplete[]>`
    select status, size, sha256, put_until
    from security_uploads
    where org_id = ${org_id}
      and id = ${id}
    for update`
  return row ?? null
}

/** `lane` is who sent it again; absent if it waits already. */
export async function updateQueued(db: Db, { org_id, id, lane }: UploadKey & { lane?: Lane }, at: Date): Promise<void> {
  await db`
    update security_uploads
    set status = 'queued', outcome = null, held = null, findings = 0, updated_at = ${at},
      waiting_lane = coalesce(${lane ?? null}, waiting_lane)
    where org_id = ${org_id}
      and id = ${id}`
}

/** Why an upload failed, as users read it, and the format that was detected, if any. */
export type UploadFailure = Pick<ReportError, 'format'> & { error: string }

/** Marks an upload as failed, unless it has ended. */
export async function updateFailed(db: Db, { org_id, id }: UploadKey, failure: UploadFailure, at: Date): Promise<void> {
  await db`
    update security_uploads
    set status = 'failed', error = ${failure.error}, format = ${failure.format}, findings = 0, components = 0,
      updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}
      and status not in ('finished', 'failed')`
}

export type UploadToRead = {
  repository_no: number
  requested_format: 'auto' | UploadFormat
  origin: UploadOrigin
  category: string | null
  git_ref: string | null
  artifact_id: string | null
  /** Whether the file was read before. */
  was_read: boolean
}

/**
 * Marks an upload as parsing, again after an interruption. Returns null if the upload has ended.
 */
export async function updateParsing(db: Db, { org_id, id }: UploadKey, at: Date): Promise<UploadToRead | null> {
  const [row] = await db<UploadToRead[]>`
    update security_uploads
    set status = 'parsing', findings = 0, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}
      and status in ('queued', 'parsing')
    returning repository_no, requested_format, origin, category, git_ref, artifact_id,
      outcome is not null as was_read`
  return row ?? null
}

export async function updateProgress(db: Db, { org_id, id }: UploadKey, findings: number, at: Date): Promise<void> {
  await db`
    update security_uploads
    set findings = ${findings}, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}
      and status = 'parsing'`
}

export type FinishedUpload = {
  format: UploadFormat
  /** The category in the report itself. */
  category: string | null
  findings: number
  components: number
  truncated: boolean
  warnings: string[]
  outcome: ReconcileOutcome
  held: HeldFindings | null
  /** Absent for files that are no bills of materials. */
  matches?: MatchCounts
}

/**
 * Marks an upload as finished. If it returns false, the upload has ended and the transaction must
 * be rolled back.
 */
export async function updateFinished(
  tx: Tx,
  { org_id, id }: UploadKey,
  result: FinishedUpload,
  at: Date,
): Promise<boolean> {
  const rows = await tx`
    update security_uploads
    set status = 'finished', format = ${result.format}, report_category = ${result.category},
      findings = ${result.findings}, components = ${result.components}, outcome = ${tx.json({ ...result.outcome, ...(result.matches && { matches: result.matches }) })},
      truncated = ${result.truncated}, held = ${result.held && tx.json(result.held)}, warnings = ${result.warnings}, updated_at = ${at}
    where org_id = ${org_id}
      and id = ${id}
      and status = 'parsing'`
  return rows.count === 1
}

/** The error of an upload that was still pending after its 15 minutes (decisions §7). */
export const UPLOAD_EXPIRED = 'upload expired'
export const OUR_FAILURE = 'The report could not be read because of an internal error. Upload it again.'

const READ_AT_ONCE = 500

/**
 * The uploads after one in the order of their ids, at most 500, that are the newest reports of
 * streams, in these formats, with findings and without components: some of them may be VEX
 * documents, which earlier versions of the program did not tell apart.
 */
export async function listReportsWithoutComponents(
  db: Db,
  orgId: string,
  { formats, after }: { formats: readonly UploadFormat[]; after: string },
): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select distinct upload.id
    from finding_streams stream
    join security_uploads upload on upload.org_id = stream.org_id and upload.id = stream.upload_id
    where stream.org_id = ${orgId}
      and stream.origin not in ('alert', 'inventory')
      and stream.source = any(${[...formats]}::text[])
      and stream.ended_at is null
      and upload.id > ${after}
      and upload.status = 'finished'
      and upload.components = 0
      and upload.findings > 0
    order by upload.id
    limit ${READ_AT_ONCE}`
  return rows.map(({ id }) => id)
}

/** Locks an upload that is finished until the transaction ends. Returns false if it is not. */
export async function lockFinished(tx: Tx, { org_id, id }: UploadKey): Promise<boolean> {
  const rows = await tx`
    select from security_uploads
    where org_id = ${org_id}
      and id = ${id}
      and status = 'finished'
    for update`
  return rows.length > 0
}

/** The ids of the uploads that have files of their own, after one, in their order. */
export async function listUploadIds(
  db: Db,
  orgId: string,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id
    from security_uploads
    where org_id = ${orgId}
      and id > ${after}
      and artifact_id is null
    order by id
    limit ${limit}`
  return rows.map(({ id }) => id)
}

import type { Principal } from '../../audit/audit.store.ts'
import type { ReportFigures } from '../../ci/reports/attestation.ts'
import type { Lane, TrustClass } from '../../ci/runs/trust.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { UploadFormat } from '../formats/catalogue.ts'
import type { UploadOrigin } from '../vocabulary/finding.ts'
import { buildLaneRank, buildStreamLane, buildUploadLane } from '../writing/lane.store.ts'
import type { UploadKey } from './upload-state.store.ts'

/** What one lane states about a file: for which commit, and who sent it. */
export type UploadStatement = {
  lane: Lane
  commit_sha: string | null
  tracked: boolean
  /**
   * Whether the sender states that the report is complete, or that it is not. Null: it says
   * nothing.
   */
  complete: boolean | null
  /** Whether the sender may triage. */
  may_triage: boolean
  /** The API key, the person, the trust or the run. */
  sender_id: string
  sender_name: string
}

export type NewUploadRow = UploadStatement & {
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
  /** Null for a CI job. */
  created_by: Principal | null
  put_until: Date
  /** The artifact that has the file, for an upload from a CI report. Null if the file is PUT. */
  artifact: { id: string; runId: string } | null
}

/** The class that is stored with an upload. Its origin tells people from API keys. */
function toTrust({ lane, origin }: NewUploadRow): TrustClass | 'uploaded' {
  if (lane === 'verified' || lane === 'untrusted') return lane
  return origin === 'report' ? 'self_reported' : 'uploaded'
}

/**
 * Inserts an upload with its first lane. Returns its id, or null if the same file was uploaded
 * before and did not fail.
 */
export async function insertUpload(tx: Tx, upload: NewUploadRow, at: Date): Promise<string | null> {
  const rows = await tx`
    insert into security_uploads (
      org_id, id, repository_no, origin, status, requested_format, filename, size, sha256, category, git_ref,
      commit_sha, tracked, trust, created_by_type, created_by_id, created_by_name, put_until, artifact_id, run_id,
      reported_at, created_at, updated_at, waiting_lane
    )
    values (
      ${upload.org_id}, ${upload.id}, ${upload.repository_no}, ${upload.origin},
      ${upload.artifact ? 'queued' : 'pending'}, ${upload.requested_format},
      ${upload.filename}, ${upload.size}, ${upload.sha256}, ${upload.category}, ${upload.git_ref}, ${upload.commit_sha},
      ${upload.tracked}, ${toTrust(upload)}, ${upload.created_by?.type ?? null}, ${upload.created_by?.id ?? null},
      ${upload.created_by?.name ?? null}, ${upload.put_until}, ${upload.artifact?.id ?? null},
      ${upload.artifact?.runId ?? null}, ${at}, ${at}, ${at}, ${upload.lane}
    )
    on conflict do nothing`
  if (rows.count === 0) return null
  await insertLane(tx, upload, upload, at)
  return upload.id
}

async function insertLane(tx: Tx, { org_id, id }: UploadKey, stated: UploadStatement, at: Date): Promise<void> {
  const { lane, commit_sha, tracked, complete, may_triage, sender_id, sender_name } = stated
  await tx`
    insert into security_upload_lanes (
      org_id, upload_id, lane, commit_sha, tracked, complete, reported_at, may_triage, sender_id, sender_name
    )
    values (
      ${org_id}, ${id}, ${lane}, ${commit_sha}, ${tracked}, ${complete}, ${at}, ${may_triage}, ${sender_id},
      ${sender_name}
    )`
}

export type StoredUpload = UploadKey & { status: string }

/** The upload of the same file that did not fail, locked until the transaction ends. */
export async function lockSameFile(tx: Tx, upload: NewUploadRow): Promise<StoredUpload | null> {
  const [row] = await tx<StoredUpload[]>`
    select org_id, id, status
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

/** A lane of an upload with the time of its newest request. */
export type UploadLane = UploadStatement & { reported_at: Date; confirmed: boolean }

/** The lanes that sent the file of an upload, the one that did so last at the end. */
export async function listUploadLanes(db: Db, { org_id, id }: UploadKey): Promise<UploadLane[]> {
  return db<UploadLane[]>`
    ${selectLanes(db, { org_id, id })}
    order by reported_at, lane`
}

function selectLanes(db: Db, { org_id, id }: UploadKey) {
  return db`
    with stated as (
      select lane, commit_sha, tracked, complete, may_triage, sender_id, sender_name, reported_at, confirmed
      from security_upload_lanes
      where org_id = ${org_id}
        and upload_id = ${id}
    )
    select *
    from stated
    union all
    ${selectFirstLane(db, { org_id, id })}
      and not exists (select from stated)`
}

/**
 * The lanes of an upload whose newest request no stream has yet, so that reading goes on after an
 * interruption, and nothing counts as reported twice.
 */
export async function listUnreadLanes(db: Db, key: UploadKey): Promise<UploadLane[]> {
  const lanes = await listUploadLanes(db, key)
  const read = await db<(Pick<UploadLane, 'lane' | 'commit_sha' | 'reported_at'> & { is_held: boolean })[]>`
    select ${buildStreamLane(db, key.org_id, db`stream`)} as lane, commit_sha, reported_at, held is not null as is_held
    from finding_streams stream
    where org_id = ${key.org_id}
      and upload_id = ${key.id}
      and reported_at > '-infinity'`
  const isRead = (lane: UploadLane) =>
    read.some(
      (of) => of.lane === lane.lane && of.commit_sha === lane.commit_sha && +of.reported_at === +lane.reported_at,
    )
  // Somebody confirms it after it was read.
  const isHeld = (lane: UploadLane) => lane.confirmed && read.some((of) => of.lane === lane.lane && of.is_held)
  return lanes.filter((lane) => !isRead(lane) || isHeld(lane))
}

/** The lane of an upload that was stored before lanes were. */
function selectFirstLane(db: Db, { org_id, id }: UploadKey) {
  return db`
    select ${buildUploadLane(db, db`upload`)} as lane, coalesce(reported_commit_sha, commit_sha) as commit_sha, tracked,
      null::boolean as complete, false as may_triage, coalesce(created_by_id, run_id, '') as sender_id,
      coalesce(created_by_name, 'CI job') as sender_name, reported_at, false as confirmed
    from security_uploads upload
    where org_id = ${org_id}
      and id = ${id}`
}

/**
 * Adds a lane to an upload, which must be locked. Returns what the lane had stated before, or null
 * if it is new.
 */
export async function insertUploadLane(
  tx: Tx,
  key: UploadKey,
  stated: UploadStatement,
  at: Date,
): Promise<UploadLane | null> {
  const lanes = await listUploadLanes(tx, key)
  const before = lanes.find(({ lane }) => lane === stated.lane) ?? null
  await insertStoredLane(tx, key)
  if (before === null) await insertLane(tx, key, stated, at)
  return before
}

async function insertStoredLane(tx: Tx, key: UploadKey): Promise<void> {
  await tx`
    insert into security_upload_lanes (
      org_id, upload_id, lane, commit_sha, tracked, complete, may_triage, sender_id, sender_name, reported_at, confirmed
    )
    select ${key.org_id}, ${key.id}, first.*
    from (${selectFirstLane(tx, key)}) first
    where not exists (
      select from security_upload_lanes
      where org_id = ${key.org_id}
        and upload_id = ${key.id}
    )`
}

/** Somebody vouches for the upload in these lanes: it is complete. The upload must be locked. */
export async function updateConfirmedLanes(tx: Tx, key: UploadKey, lanes: readonly Lane[]): Promise<void> {
  await insertStoredLane(tx, key)
  await tx`
    update security_upload_lanes
    set confirmed = true
    where org_id = ${key.org_id}
      and upload_id = ${key.id}
      and lane = any(${[...lanes]}::text[])`
}

/** Stores a newer request of a lane. What it leaves out stays, and an older one changes nothing. */
export async function updateUploadLane(
  tx: Tx,
  { org_id, id }: UploadKey,
  { lane, ...newer }: Omit<UploadLane, 'tracked' | 'confirmed'>,
): Promise<void> {
  await tx`
    update security_upload_lanes
    set commit_sha = coalesce(${newer.commit_sha}, commit_sha), reported_at = ${newer.reported_at},
      complete = ${newer.complete}, confirmed = false,
      may_triage = ${newer.may_triage}, sender_id = ${newer.sender_id}, sender_name = ${newer.sender_name}
    where org_id = ${org_id}
      and upload_id = ${id}
      and lane = ${lane}
      and reported_at <= ${newer.reported_at}`
}

/**
 * Gives a pending upload more time for its PUT, and the newest size, so that a wrong size can be
 * corrected, but not by a sender if another lane that is not weaker has stated it. Senders who name
 * different formats leave it to the file, whatever the status.
 */
export async function updateSharedFile(
  tx: Tx,
  { org_id, id, lane, size, put_until, requested_format }: NewUploadRow,
  at: Date,
): Promise<void> {
  const own = buildLaneRank(tx, tx`${lane}::text`)
  await tx`
    update security_uploads
    set put_until = ${put_until}, updated_at = ${at},
      size = case
        when exists (
          select from (${selectLanes(tx, { org_id, id })}) other
          where other.lane <> ${lane}
            and ${buildLaneRank(tx, tx`other.lane`)} >= ${own}
        ) then size
        else ${size}
      end
    where org_id = ${org_id}
      and id = ${id}
      and status = 'pending'`
  await tx`
    update security_uploads
    set requested_format = 'auto'
    where org_id = ${org_id}
      and id = ${id}
      and requested_format not in ('auto', ${requested_format})`
}

/**
 * Counts the uploads of a commit that a lane sent first, or without a commit those since `since`.
 * Failed ones do not count.
 */
export async function countUploads(
  db: Db,
  { org_id: orgId, repository_no: repositoryNo, commit_sha: commitSha, lane }: NewUploadRow,
  since: Date,
): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*) as count
    from security_uploads upload
    where org_id = ${orgId}
      and repository_no = ${repositoryNo}
      and ${buildUploadLane(db, db`upload`)} = ${lane}
      and commit_sha is not distinct from ${commitSha}::text
      and status <> 'failed'
      and origin <> 'report'
      ${commitSha === null ? db`and created_at >= ${since}` : db``}`
  return row.count
}

export type Waiting = { uploads: number; bytes: number }

/**
 * Counts the uploads of an organization that wait for their file or to be read because of a lane,
 * except one, and their bytes.
 */
export async function countWaiting(
  db: Db,
  { org_id: orgId, id, lane }: { org_id: string; id?: string; lane: Lane },
  now: Date,
): Promise<Waiting> {
  const [row] = await db<[Waiting]>`
    select count(*)::int as uploads, coalesce(sum(size), 0)::float as bytes
    from security_uploads upload
    where org_id = ${orgId}
      and status in ('pending', 'queued', 'parsing')
      and (status <> 'pending' or put_until > ${now})
      and id is distinct from ${id ?? null}
      and coalesce(waiting_lane, ${buildUploadLane(db, db`upload`)}) = ${lane}`
  return row
}

/**
 * Counts the uploads of a lane from reports of a run. They have their own limit. Failed ones do not
 * count.
 */
export async function countRunUploads(db: Db, orgId: string, runId: string, lane: Lane): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*) as count
    from security_uploads upload
    where org_id = ${orgId}
      and run_id = ${runId}
      and ${buildUploadLane(db, db`upload`)} = ${lane}
      and status <> 'failed'`
  return row.count
}

/**
 * Whether another file of the same streams was sent in this lane since a time. The same time counts
 * as later, because it does not tell which file is newer.
 */
export async function hasNewerFile(
  db: Db,
  { org_id, id }: UploadKey,
  { lane, reported_at }: Pick<UploadLane, 'lane' | 'reported_at'>,
  at: Date,
): Promise<boolean> {
  const rows = await db`
    select from security_uploads upload
    join security_uploads newer
      on newer.org_id = upload.org_id
      and newer.repository_no = upload.repository_no
      and (
        coalesce(newer.category, '') = coalesce(upload.category, '')
        or coalesce(newer.category, newer.report_category) = coalesce(upload.category, upload.report_category)
      )
      and branch_name(newer.git_ref) = branch_name(upload.git_ref)
      and newer.id <> upload.id
      and newer.status <> 'failed'
    left join security_upload_lanes stated
      on stated.org_id = newer.org_id
      and stated.upload_id = newer.id
      and stated.lane = ${lane}
    where upload.org_id = ${org_id}
      and upload.id = ${id}
      and coalesce(stated.reported_at, case when ${buildUploadLane(db, db`newer`)} = ${lane} then newer.reported_at end)
        between ${reported_at} and ${at}
    limit 1`
  return rows.length > 0
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

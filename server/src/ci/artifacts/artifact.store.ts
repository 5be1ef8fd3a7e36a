import type { Db, Tx } from '../../platform/db/sql.ts'
import { abandonObjects } from '../../platform/objects/abandoned-objects.store.ts'
import { artifactKey } from './artifact-key.ts'

export type ArtifactRow = {
  id: string
  path: string
  size: number
  sha256: string
  put_until: Date
}

export type StoredArtifact = ArtifactRow & { status: 'pending' | 'uploaded' | 'rejected'; reason: string | null }

/** The artifacts of a report at these paths. The report is locked, so they stay as they are. */
export async function findArtifacts(
  tx: Tx,
  orgId: string,
  reportId: string,
  paths: string[],
): Promise<StoredArtifact[]> {
  return tx<StoredArtifact[]>`
    select id, path, size, sha256, put_until, status, reason
    from ci_artifacts
    where org_id = ${orgId}
      and report_id = ${reportId}
      and path = any(${paths})`
}

/** Bytes of a run that are stored or may still be PUT. */
export async function sumRunBytes(tx: Tx, orgId: string, runId: string, now: Date): Promise<number> {
  const [row] = await tx<[{ bytes: number }]>`
    select coalesce(sum(size), 0)::bigint as bytes
    from ci_artifacts
    where org_id = ${orgId}
      and run_id = ${runId}
      and (status = 'uploaded' or (status = 'pending' and put_until > ${now}))`
  return row.bytes
}

export async function countArtifacts(db: Db, orgId: string, reportId: string): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*) as count
    from ci_artifacts
    where org_id = ${orgId}
      and report_id = ${reportId}`
  return row.count
}

/** Opens slots: new artifacts, and those that wait for their file and get more time. */
export async function upsertSlots(
  tx: Tx,
  orgId: string,
  report: { id: string; runId: string },
  slots: ArtifactRow[],
  at: Date,
): Promise<void> {
  await tx`
    insert into ci_artifacts (org_id, id, report_id, run_id, path, size, sha256, status, put_until, created_at)
    select ${orgId}, id, ${report.id}, ${report.runId}, path, size, sha256, 'pending', put_until, ${at}::timestamptz
    from jsonb_to_recordset(${tx.json(slots as never)}::jsonb)
      as slot (id text, path text, size bigint, sha256 text, put_until timestamptz)
    on conflict (org_id, id) do update
    set put_until = excluded.put_until`
}

/** Removes the artifacts of a report at these paths. */
export async function deleteArtifacts(tx: Tx, orgId: string, reportId: string, paths: string[]): Promise<void> {
  await deleteWhere(tx, orgId, reportId, tx`path = any(${paths})`)
}

/** Removes the artifacts of a report that are none of `keep`: another path, or other bytes at the same one. */
export async function deleteOtherArtifacts(
  tx: Tx,
  orgId: string,
  reportId: string,
  keep: Pick<ArtifactRow, 'path' | 'size' | 'sha256'>[],
): Promise<void> {
  const kept = tx`
    select path, size, sha256
    from jsonb_to_recordset(${tx.json(keep)}::jsonb) as kept (path text, size bigint, sha256 text)`
  await deleteWhere(tx, orgId, reportId, tx`(path, size, sha256) not in (${kept})`)
}

/** Objects go once nobody can PUT to them any more. What was read in a file does not outlive it. */
async function deleteWhere(tx: Tx, orgId: string, reportId: string, condition: ReturnType<typeof tx>): Promise<void> {
  const deleted = await tx<AbandonedArtifact[]>`
    with deleted as (
      delete from ci_artifacts
      where org_id = ${orgId}
        and report_id = ${reportId}
        and ${condition}
      returning id, path, put_until
    ), forgotten as (
      update ci_attestations attestation
      set parsed = null, status = case when attestation.kind = 'sbom' then 'info' else attestation.status end
      from deleted
      where attestation.org_id = ${orgId}
        and attestation.report_id = ${reportId}
        and attestation.parsed is not null
        and attestation.data ->> 'artifact' = deleted.path
    )
    select id, put_until
    from deleted`
  await abandon(tx, orgId, deleted)
}

const FORGOTTEN_AT_ONCE_MAX = 500

/** Removes slots whose time ended before `putUntilMax` and that nobody completed. Returns how many there were. */
export async function forgetUnfinished(tx: Tx, putUntilMax: Date): Promise<number> {
  const forgotten = await tx<(AbandonedArtifact & { org_id: string })[]>`
    with unfinished as (
      select org_id, id
      from ci_artifacts
      where status = 'pending'
        and put_until <= ${putUntilMax}
      order by put_until
      limit ${FORGOTTEN_AT_ONCE_MAX}
      for update skip locked
    )
    delete from ci_artifacts artifact
    using unfinished
    where (artifact.org_id, artifact.id) = (unfinished.org_id, unfinished.id)
    returning artifact.org_id, artifact.id, artifact.put_until`
  for (const artifact of forgotten) await abandon(tx, artifact.org_id, [artifact])
  return forgotten.length
}

type AbandonedArtifact = { id: string; put_until: Date }

async function abandon(tx: Tx, orgId: string, artifacts: AbandonedArtifact[]): Promise<void> {
  if (artifacts.length === 0) return
  const objects = artifacts.map(({ id, put_until }) => ({
    object_key: artifactKey(orgId, id),
    remove_after: put_until,
  }))
  await abandonObjects(tx, objects)
}

/** Artifacts of a report by id. */
export async function findArtifactsById(
  db: Db,
  orgId: string,
  reportId: string,
  ids: string[],
): Promise<StoredArtifact[]> {
  return db<StoredArtifact[]>`
    select id, path, size, sha256, put_until, status, reason
    from ci_artifacts
    where org_id = ${orgId}
      and report_id = ${reportId}
      and id = any(${ids})`
}

/** Settles a pending artifact; one whose file is still missing stays pending. What is PUT after a rejection goes later. */
export async function settleArtifact(
  tx: Tx,
  orgId: string,
  id: string,
  result: { status: 'uploaded' | 'rejected' | 'missing'; reason: string | null },
): Promise<void> {
  if (result.status === 'missing') return
  const settled = await tx<AbandonedArtifact[]>`
    update ci_artifacts
    set status = ${result.status}, reason = ${result.reason}
    where org_id = ${orgId}
      and id = ${id}
      and status = 'pending'
    returning id, put_until`
  if (result.status === 'rejected') await abandon(tx, orgId, settled)
}

/** An uploaded artifact, for a download. */
export async function findUploaded(db: Db, orgId: string, id: string): Promise<{ path: string } | null> {
  const [row] = await db<{ path: string }[]>`
    select path
    from ci_artifacts
    where org_id = ${orgId}
      and id = ${id}
      and status = 'uploaded'`
  return row ?? null
}

/** Uploaded files that a scan or SBOM attestation of the report names and that were not announced yet; now they are. */
export async function takeNamedArtifacts(tx: Tx, orgId: string, reportId: string): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    update ci_artifacts artifact
    set announced = true
    where artifact.org_id = ${orgId}
      and artifact.report_id = ${reportId}
      and artifact.status = 'uploaded'
      and not artifact.announced
      and exists (
        select from ci_attestations attestation
        where attestation.org_id = artifact.org_id
          and attestation.report_id = artifact.report_id
          and attestation.kind in ('scan', 'sbom')
          and attestation.data ->> 'artifact' = artifact.path
      )
    returning artifact.id`
  return rows.map((row) => row.id)
}

import { buildSpreadCondition, runAcrossOrganizations } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { insertAbandonedObjects } from '../../platform/objects/abandoned-objects.store.ts'
import type { ArtifactRow, ReportKey } from './artifact.store.ts'
import { formatArtifactKey } from './artifact-object.ts'

type AbandonedArtifact = Pick<ArtifactRow, 'id' | 'put_until'>

/** Deletes artifacts of a report at these paths: the uploaded ones, or the others. */
export async function deleteArtifacts(
  tx: Tx,
  report: ReportKey,
  paths: string[],
  state: 'uploaded' | 'not_uploaded',
): Promise<void> {
  if (paths.length > 0)
    await deleteWhere(tx, report, tx`path = any(${paths}) and (status = 'uploaded') = ${state === 'uploaded'}`)
}

/**
 * Deletes the artifacts of a report except those with the path, size and checksum of an item of
 * `keep`, and uploaded ones with the path of one: they stay until their replacement is uploaded.
 */
export async function deleteOtherArtifacts(
  tx: Tx,
  report: ReportKey,
  keep: Pick<ArtifactRow, 'path' | 'size' | 'sha256'>[],
): Promise<void> {
  const kept = tx`
    select path, size, sha256
    from jsonb_to_recordset(${tx.json(keep)}::jsonb) as kept (path text, size bigint, sha256 text)`
  await deleteWhere(
    tx,
    report,
    tx`case when status = 'uploaded' then path <> all(${keep.map(({ path }) => path)}::text[])
      else (path, size, sha256) not in (${kept}) end`,
  )
}

/**
 * Attestations that name a deleted artifact lose the figures that were read from it. Where the
 * status depends on the file, it becomes `info`.
 */
async function deleteWhere(tx: Tx, report: ReportKey, condition: ReturnType<typeof tx>): Promise<void> {
  const deleted = await tx<AbandonedArtifact[]>`
    with deleted as (
      delete from ci_artifacts
      where org_id = ${report.org_id}
        and report_id = ${report.report_id}
        and ${condition}
      returning id, path, put_until, status
    ), forgotten as (
      update ci_attestations attestation
      set parsed = null,
        status = case
          when attestation.kind in ('sbom', 'ownership')
            or (attestation.kind = 'scan' and not attestation.data ?& array['critical', 'high', 'medium', 'low'])
            then 'info'
          else attestation.status
        end
      from deleted
      where attestation.org_id = ${report.org_id}
        and attestation.report_id = ${report.report_id}
        and attestation.parsed is not null
        and deleted.status = 'uploaded'
        and attestation.data ->> 'artifact' = deleted.path
    )
    select id, put_until
    from deleted`
  await insertArtifactRemovals(tx, report.org_id, deleted)
}

const UNFINISHED_AT_ONCE_MAX = 500

/**
 * Deletes pending artifacts whose slot closed at or before `putUntilMax`. Returns how many it
 * deleted, at most 500; on several servers, at most 500 of each organization.
 */
export async function deleteUnfinished(tx: Tx, putUntilMax: Date): Promise<number> {
  const deleted = await runAcrossOrganizations(
    tx,
    tx`ci_artifacts where status = 'pending' and put_until <= ${putUntilMax}`,
    (orgId) => tx<(AbandonedArtifact & { org_id: string })[]>`
      with unfinished as (
        select org_id, id
        from ci_artifacts artifact
        where status = 'pending'
          and put_until <= ${putUntilMax} ${buildSpreadCondition(tx, 'artifact', orgId)}
        order by put_until
        limit ${UNFINISHED_AT_ONCE_MAX}
        for update skip locked
      )
      delete from ci_artifacts artifact
      using unfinished
      where (artifact.org_id, artifact.id) = (unfinished.org_id, unfinished.id) ${buildSpreadCondition(tx, 'artifact', orgId)}
      returning artifact.org_id, artifact.id, artifact.put_until`,
  )
  for (const artifact of deleted) await insertArtifactRemovals(tx, artifact.org_id, [artifact])
  return deleted.length
}

/** Deletes the artifacts of runs. */
export async function deleteArtifactsOfRuns(tx: Tx, orgId: string, runIds: readonly string[]): Promise<void> {
  const deleted = await tx<AbandonedArtifact[]>`
    delete from ci_artifacts
    where org_id = ${orgId}
      and run_id = any(${[...runIds]})
    returning id, put_until`
  await insertArtifactRemovals(tx, orgId, deleted)
}

/**
 * Schedules the removal of the objects for the time when their upload slots have expired.
 */
export async function insertArtifactRemovals(tx: Tx, orgId: string, artifacts: AbandonedArtifact[]): Promise<void> {
  if (artifacts.length === 0) return
  const objects = artifacts.map(({ id, put_until }) => ({
    object_key: formatArtifactKey(orgId, id),
    remove_after: put_until,
  }))
  await insertAbandonedObjects(tx, objects)
}

type Listed = { after: string; limit: number }

/** The ids of an organization's artifacts after one, in their order. */
export async function listArtifactIds(db: Db, orgId: string, { after, limit }: Listed): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id
    from ci_artifacts
    where org_id = ${orgId}
      and id > ${after}
    order by id
    limit ${limit}`
  return rows.map(({ id }) => id)
}

/** SQL: the objects of all artifacts, and whether each one must exist. */
export function buildArtifactObjects(db: Db) {
  return db`
    select format(${formatArtifactKey('%s', '%s')}, org_id, id) as key, size, sha256, status = 'uploaded' as is_required
    from ci_artifacts`
}

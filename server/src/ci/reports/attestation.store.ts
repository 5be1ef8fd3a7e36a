import type { Db, Tx } from '../../platform/db/sql.ts'
import { TRUST_CLASSES, type TrustClass } from '../runs/trust.ts'
import { hasReplacement, type ReportKey } from './artifact.store.ts'
import type { AttestationKind, AttestationStatus, ReadFile } from './attestation.ts'

export type AttestationRow = {
  id: string
  kind: AttestationKind
  name: string
  data: object
  status: AttestationStatus
}

export type StoredAttestation = Pick<AttestationRow, 'id' | 'kind' | 'name' | 'status'>

/** What was read from the file of a stored attestation. */
export type StoredRead = Pick<AttestationRow, 'kind' | 'name'> & {
  artifact: string
  /** The class of the file that was read. */
  artifact_trust: TrustClass
  parsed: ReadFile
}

/**
 * What was read from the files of the attestations of a report that nothing is about to replace.
 * Locks all of its attestations until the transaction ends.
 */
export async function lockReads(tx: Tx, report: ReportKey): Promise<StoredRead[]> {
  return tx<StoredRead[]>`
    with locked as (
      select id, kind, name, data ->> 'artifact' as artifact, parsed
      from ci_attestations
      where org_id = ${report.org_id}
        and report_id = ${report.report_id}
      order by id
      for update
    )
    select locked.kind, locked.name, locked.artifact, locked.parsed, artifact.trust as artifact_trust
    from locked
    join ci_artifacts artifact
      on artifact.org_id = ${report.org_id}
      and artifact.report_id = ${report.report_id}
      and artifact.path = locked.artifact
      and artifact.status = 'uploaded'
    where locked.parsed is not null
      and not ${hasReplacement(tx, report.org_id)}`
}

/**
 * Stores attestations. One with the same kind and name is replaced and keeps its id. An artifact
 * that is named by an attestation without `parsed` is announced again, so that it is read for it.
 */
export async function upsertAttestations(
  tx: Tx,
  report: ReportKey,
  rows: (AttestationRow & { parsed: ReadFile | null; trust: TrustClass })[],
  at: Date,
) {
  return tx<StoredAttestation[]>`
    with stored as (
      insert into ci_attestations as attestation (
        org_id, id, report_id, kind, name, data, status, parsed, trust, created_at, updated_at
      )
      select ${report.org_id}, id, ${report.report_id}, kind, name, data, status, parsed, trust, ${at}::timestamptz,
        ${at}::timestamptz
      from jsonb_to_recordset(${tx.json(rows as never)}::jsonb)
        as item (id uuid, kind text, name text, data jsonb, status text, parsed jsonb, trust text)
      on conflict (org_id, report_id, kind, name) do update
      set data = excluded.data, trust = excluded.trust, updated_at = excluded.updated_at, parsed = excluded.parsed,
        status = excluded.status
      returning id, kind, name, status, data ->> 'artifact' as artifact, parsed
    ), named as (
      update ci_artifacts
      set announced = false
      from stored
      where ci_artifacts.org_id = ${report.org_id}
        and ci_artifacts.report_id = ${report.report_id}
        and ci_artifacts.announced
        and ci_artifacts.path = stored.artifact
        and stored.parsed is null
    )
    select id, kind, name, status
    from stored`
}

type GivenEvidence = {
  attestations: readonly Pick<AttestationRow, 'kind' | 'name' | 'data'>[]
  artifacts: readonly { path: string; size: number; sha256: string }[]
}

/**
 * An attestation or uploaded artifact that is about to be replaced or deleted. `at`: since when
 * there has been one of this name.
 */
export type LostEvidence = { name: string; path: string | null; at: Date }

/**
 * What a report loses when it is given this, newest first. If that is the whole report, what it
 * does not name is lost too. What is sent again unchanged is not.
 */
export async function listLostEvidence(
  tx: Tx,
  report: ReportKey,
  { attestations, artifacts }: GivenEvidence,
  isWhole: boolean,
): Promise<LostEvidence[]> {
  return tx<LostEvidence[]>`
    select stored.kind || ' ' || stored.name as name, null as path, stored.created_at as at
    from ci_attestations stored
    left join jsonb_to_recordset(${tx.json(attestations as never)}::jsonb) as given (kind text, name text, data jsonb)
      on given.kind = stored.kind and given.name = stored.name
    where stored.org_id = ${report.org_id}
      and stored.report_id = ${report.report_id}
      and case when given.kind is null then ${isWhole} else given.data <> stored.data end
    union all
    select stored.path, stored.path, stored.created_at
    from ci_artifacts stored
    left join jsonb_to_recordset(${tx.json(artifacts as never)}::jsonb) as given (path text, size bigint, sha256 text)
      on given.path = stored.path
    where stored.org_id = ${report.org_id}
      and stored.report_id = ${report.report_id}
      and stored.status = 'uploaded'
      and case when given.path is null then ${isWhole} else (given.size, given.sha256) <> (stored.size, stored.sha256) end
    order by at desc, name
    limit ${LOST_MAX}`
}

/** More than a report can have. */
const LOST_MAX = 2000

/**
 * Deletes the attestations of a report except those with the kind and name of an item of `keep`.
 */
export async function deleteOtherAttestations(tx: Tx, report: ReportKey, keep: AttestationRow[]): Promise<void> {
  await tx`
    delete from ci_attestations
    where org_id = ${report.org_id}
      and report_id = ${report.report_id}
      and (kind, name) not in (
        select kind, name
        from unnest(${keep.map(({ kind }) => kind)}::text[], ${keep.map(({ name }) => name)}::text[]) as kept (kind, name)
      )`
}

export async function countAttestations(db: Db, report: ReportKey): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*) as count
    from ci_attestations
    where org_id = ${report.org_id}
      and report_id = ${report.report_id}`
  return row.count
}

export type ArtifactKey = { org_id: string; id: string }

/** An attestation that names an artifact. */
type NamingAttestation = Pick<AttestationRow, 'id' | 'kind' | 'data'> & {
  trust: TrustClass
  artifact_trust: TrustClass
}

/**
 * The attestations of these kinds that name an artifact; none if another file is about to replace
 * it. Locks them until the transaction ends.
 */
export async function lockNaming(
  tx: Tx,
  artifact: ArtifactKey,
  kinds: readonly AttestationKind[],
): Promise<NamingAttestation[]> {
  return tx<NamingAttestation[]>`
    select attestation.id, attestation.kind, attestation.data, attestation.trust, artifact.trust as artifact_trust
    from ci_artifacts artifact
    join ci_attestations attestation
      on attestation.org_id = artifact.org_id
      and attestation.report_id = artifact.report_id
      and attestation.data ->> 'artifact' = artifact.path
    where artifact.org_id = ${artifact.org_id}
      and artifact.id = ${artifact.id}
      and attestation.kind = any(${[...kinds]})
      and not ${hasReplacement(tx, artifact.org_id)}
    order by attestation.id
    for update of attestation`
}

/** Stores what was read from the file of an attestation. */
export async function updateRead(
  tx: Tx,
  orgId: string,
  { id, parsed, status, trust }: { id: string; parsed: ReadFile; status: AttestationStatus; trust: TrustClass },
  at: Date,
): Promise<void> {
  await tx`
    update ci_attestations
    set parsed = ${tx.json(parsed)}, status = ${status}, trust = ${trust}, updated_at = ${at}
    where org_id = ${orgId}
      and id = ${id}`
}

/**
 * SQL: the data of an attestation, with the figures read from its file where the job sent none.
 */
export function buildDataWithFigures(db: Db) {
  return db`case
    when kind = 'scan' and jsonb_typeof(parsed -> 'openBySeverity') = 'object' then (parsed -> 'openBySeverity') || data
    when kind = 'sbom' and parsed is not null
      then jsonb_build_object('format', parsed -> 'format', 'components', parsed -> 'components') || data
    else data
  end`
}

/** What a deployment is about: its run, and the other runs of the repository and commit. */
type ReportedSubject = { org_id: string; run_id: string; repository: string; commit_sha: string | null }

/** Whether attestations were stored or replaced since, in this lane or a stronger one. */
export async function hasAttestationsSince(
  db: Db,
  { org_id, run_id, repository, commit_sha }: ReportedSubject,
  { lane, since }: { lane: TrustClass; since: Date },
): Promise<boolean> {
  const rows = await db`
    select
    from ci_runs run
    join ci_reports report on report.org_id = run.org_id and report.run_id = run.id
    join ci_attestations item on item.org_id = report.org_id and item.report_id = report.id
    where run.org_id = ${org_id}
      and (run.id = ${run_id} or (run.repository = ${repository} and run.commit_sha = ${commit_sha}))
      and item.trust = any(${TRUST_CLASSES.slice(0, TRUST_CLASSES.indexOf(lane) + 1)})
      and item.updated_at > ${since}
    limit 1`
  return rows.length > 0
}

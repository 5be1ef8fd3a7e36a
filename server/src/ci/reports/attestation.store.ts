import type { Db, Tx } from '../../platform/db/sql.ts'
import type { ReportKey } from '../artifacts/artifact.store.ts'
import type { TrustClass } from '../runs/trust.ts'
import type { AttestationKind, AttestationStatus } from './attestation.ts'

export type AttestationRow = {
  id: string
  kind: AttestationKind
  name: string
  data: object
  status: AttestationStatus
}

export type StoredAttestation = Pick<AttestationRow, 'id' | 'kind' | 'name' | 'status'>

/**
 * Stores attestations. One with the same kind and name is replaced and keeps its id; it keeps the
 * figures that were read from its artifact as long as it names the same artifact. An artifact that
 * is named without such figures is announced again, so that they are added.
 */
export async function upsertAttestations(
  tx: Tx,
  report: ReportKey & { trust: TrustClass },
  rows: AttestationRow[],
  at: Date,
) {
  return tx<StoredAttestation[]>`
    with stored as (
      insert into ci_attestations as attestation (
        org_id, id, report_id, kind, name, data, status, trust, created_at, updated_at
      )
      select ${report.org_id}, id, ${report.report_id}, kind, name, data, status, ${report.trust}, ${at}::timestamptz,
        ${at}::timestamptz
      from jsonb_to_recordset(${tx.json(rows as never)}::jsonb)
        as item (id uuid, kind text, name text, data jsonb, status text)
      on conflict (org_id, report_id, kind, name) do update
      set data = excluded.data, trust = excluded.trust, updated_at = excluded.updated_at,
        parsed = case when ${sameArtifact(tx)} then attestation.parsed end,
        status = case
          when attestation.kind = 'sbom' and attestation.parsed is not null and ${sameArtifact(tx)} then 'pass'
          else excluded.status
        end
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

function sameArtifact(tx: Tx) {
  return tx`attestation.data ->> 'artifact' is not distinct from excluded.data ->> 'artifact'`
}

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

/**
 * Stores the figures read from an artifact with the attestations that name it. An SBOM that has
 * been read passes. An attestation is not more trustworthy than the artifact with its figures.
 */
export async function noteParsed(
  db: Db,
  artifact: { org_id: string; id: string },
  parsed: object,
  at: Date,
): Promise<void> {
  await db`
    update ci_attestations attestation
    set parsed = ${db.json(parsed as never)}, updated_at = ${at},
      status = case when attestation.kind = 'sbom' then 'pass' else attestation.status end,
      trust = case when 'untrusted' in (attestation.trust, artifact.trust) then 'untrusted'
        when 'self_reported' in (attestation.trust, artifact.trust) then 'self_reported'
        else 'verified' end
    from ci_artifacts artifact
    where artifact.org_id = ${artifact.org_id}
      and artifact.id = ${artifact.id}
      and attestation.org_id = artifact.org_id
      and attestation.report_id = artifact.report_id
      and attestation.kind in ('scan', 'sbom')
      and attestation.data ->> 'artifact' = artifact.path`
}

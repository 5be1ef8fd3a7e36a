import { buildAverageId } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { VexFormat } from '../formats/catalogue.ts'
import type { RepositoryChange } from '../writing/grouping.store.ts'

/**
 * Why documents dismiss findings, and who stands for them. A repository has one triage for each.
 * `by` is null for documents that were stored before their senders were.
 */
export type StatedDismissal = { source: VexFormat; reason: string; comment: string | null; by: string | null }
export type StatedTriage = StatedDismissal & { id: string }

/** The dismissal that a row `triage` is, if a document made it. */
export function buildStatedDismissal(db: Db) {
  return db`
    case
      when triage.source <> 'shiplock' and triage.action = 'dismiss'
      then jsonb_build_object(
        'source', triage.source, 'reason', triage.reason, 'comment', triage.comment, 'by', triage.created_by_name
      )
    end`
}

/** The dismissals of a repository's findings by documents. */
export function listStatedTriages(db: Db, { org_id, repository_no }: RepositoryChange): Promise<StatedTriage[]> {
  return db<StatedTriage[]>`
    select triage.id, triage.source, triage.reason, triage.comment, triage.created_by_name as by
    from triages triage
    cross join lateral (
      select from triage_findings part
      join findings finding on finding.org_id = part.org_id and finding.id = part.finding_id
      where part.org_id = ${buildAverageId(db, org_id)}
        and part.triage_id = triage.id
        and finding.repository_no = ${repository_no}
      limit 1
    ) own
    where triage.org_id = ${org_id}
      and triage.source <> 'shiplock'
      and triage.ended_at is null`
}

/** Stores dismissals with the findings that they are about first. */
export async function insertStatedTriages(
  tx: Tx,
  { org_id, at }: RepositoryChange,
  triages: readonly (StatedTriage & { finding_ids: readonly string[] })[],
): Promise<void> {
  await tx`
    insert into triages (
      org_id, id, action, source, target_type, target_ids, reason, comment, created_by_name, created_at
    )
    select ${org_id}, id, 'dismiss', source, 'finding', array(select jsonb_array_elements_text(finding_ids)), reason,
      comment, "by", ${at}
    from jsonb_to_recordset(${tx.json(triages)})
      as triage (id uuid, source text, reason text, comment text, "by" text, finding_ids jsonb)`
}

/** Findings and a triage of each, in the same order. */
type TriagedFindings = { triageIds: string[]; findingIds: string[] }

/** Adds findings to triages. `updateSettledFindings` then derives their state. */
export async function insertTriagedFindings(
  tx: Tx,
  orgId: string,
  { triageIds, findingIds }: TriagedFindings,
): Promise<void> {
  await tx`
    insert into triage_findings (org_id, triage_id, finding_id)
    select ${orgId}, triage_id, finding_id
    from unnest(${triageIds}::uuid[], ${findingIds}::uuid[]) part (triage_id, finding_id)
    on conflict do nothing`
}

/** Takes findings out of triages. `updateSettledFindings` then derives their state. */
export async function deleteTriagedFindings(
  tx: Tx,
  orgId: string,
  { triageIds, findingIds }: TriagedFindings,
): Promise<void> {
  await tx`
    delete from triage_findings part
    using unnest(${triageIds}::uuid[], ${findingIds}::uuid[]) removed (triage_id, finding_id)
    where part.org_id = ${orgId}
      and part.triage_id = removed.triage_id
      and part.finding_id = removed.finding_id`
}

/** Those of these triages that no longer affect a finding. */
export async function listEmptyTriages(db: Db, orgId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id
    from unnest(${[...ids]}::uuid[]) id
    where not exists (
      select from triage_findings part
      where part.org_id = ${orgId}
        and part.triage_id = id
    )`
  return rows.map(({ id }) => id)
}

import { buildAverageId } from '../../../platform/db/average-id.ts'
import type { Tx } from '../../../platform/db/sql.ts'

/**
 * Locks the repositories in the order of their numbers, as everything that writes findings does,
 * and notes that they have triages. Without the lock, a report could give an issue a finding while
 * the issue is dismissed. A bounded wait throws PostgreSQL's `lock_not_available` after 10 seconds.
 */
export async function lockTriaged(
  tx: Tx,
  orgId: string,
  repositoryNos: readonly number[],
  { wait = 'unbounded' }: { wait?: 'bounded' | 'unbounded' } = {},
): Promise<void> {
  await tx`set local statement_timeout = 0`
  if (wait === 'bounded') await tx`set local lock_timeout = '10s'`
  await tx`
    select from reported_repositories
    where org_id = ${orgId}
      and id = any(${[...repositoryNos]}::bigint[])
    order by id
    for no key update`
  await tx`set local lock_timeout to default`
  await tx`
    update reported_repositories
    set has_triages = true
    where org_id = ${orgId}
      and id = any(${[...repositoryNos]}::bigint[])
      and not has_triages`
}

/** A dismissal or reopening that is applied to findings. */
type Applied = { triageId: string; findingIds: readonly string[]; at: Date }

/**
 * Applies a dismissal or reopening to findings. It decides the state of each of them until a newer
 * triage of the finding does; a person's triage decides before a document's. The repositories must
 * be locked (`lockTriaged`). Returns the issues to refresh with `updateRefreshedIssues`.
 */
export async function updateTriagedFindings(
  tx: Tx,
  orgId: string,
  { triageId, findingIds, at }: Applied,
): Promise<string[]> {
  await tx`
    insert into triage_findings (org_id, triage_id, finding_id)
    select ${orgId}, ${triageId}, finding_id
    from unnest(${[...findingIds]}::uuid[]) finding_id
    on conflict do nothing`
  return updateSettledFindings(tx, orgId, findingIds, at)
}

/**
 * After triages have ended: the triages that they hid decide again, or else the reports. The
 * repositories must be locked. Returns the issues to refresh.
 */
export async function updateFindingsOfEnded(
  tx: Tx,
  orgId: string,
  triageIds: readonly string[],
  at: Date,
): Promise<string[]> {
  const rows = await tx<{ finding_id: string }[]>`
    select distinct finding_id
    from triage_findings
    where org_id = ${orgId}
      and triage_id = any(${[...triageIds]}::uuid[])`
  return updateSettledFindings(
    tx,
    orgId,
    rows.map(({ finding_id }) => finding_id),
    at,
  )
}

/**
 * Derives which triage decides the state of each finding. The repositories must be locked. Returns
 * the issues of those that changed.
 */
export async function updateSettledFindings(
  tx: Tx,
  orgId: string,
  findingIds: readonly string[],
  at: Date,
): Promise<string[]> {
  if (findingIds.length === 0) return []
  const rows = await tx<{ issue_id: string }[]>`
    with settled as (
      update findings finding
      set triage_id = decisive.triage_id, triaged_state = decisive.state, updated_at = ${at}
      from unnest(${[...findingIds]}::uuid[]) triaged (finding_id)
      left join lateral (
        select triage.id as triage_id, case triage.action when 'dismiss' then 'dismissed' else 'open' end as state
        from triage_findings part
        join triages triage on triage.org_id = part.org_id and triage.id = part.triage_id
        where part.org_id = ${buildAverageId(tx, orgId)}
          and part.finding_id = triaged.finding_id
          and triage.ended_at is null
        order by triage.source = 'shiplock' desc, part.no desc
        limit 1
      ) decisive on true
      where finding.org_id = ${buildAverageId(tx, orgId)}
        and finding.id = triaged.finding_id
        and finding.triage_id is distinct from decisive.triage_id
      returning finding.issue_id
    )
    select distinct issue_id
    from settled`
  return rows.map(({ issue_id }) => issue_id)
}

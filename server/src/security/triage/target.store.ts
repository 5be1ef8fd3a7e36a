import type { Db, Tx } from '../../platform/db/sql.ts'
import type { FindingState } from '../vocabulary/finding.ts'
import type { TriageTarget } from './writing/triage.store.ts'

/** A finding that a triage is about. */
export type TargetFinding = {
  /** The finding, issue or alert by which the request named it. */
  target_id: string
  id: string
  state: FindingState
  triaged_state: 'open' | 'dismissed' | null
  /** Whether a person dismissed it in Shiplock. */
  is_dismissed_here: boolean
  /** Of the finding of an alert. */
  alert_id: string | null
}

/** The repositories of the findings that a triage is about, for `lockTriaged`. */
export async function listTargetRepositories(db: Db, orgId: string, target: TriageTarget): Promise<number[]> {
  const rows = await db<{ repository_no: number }[]>`
    select distinct finding.repository_no
    from ${targetFindings(db, orgId, target)}`
  return rows.map(({ repository_no }) => repository_no)
}

/** Reads the findings that a triage is about. Their repositories must be locked. */
export async function listTargetFindings(tx: Tx, orgId: string, target: TriageTarget): Promise<TargetFinding[]> {
  return tx<TargetFinding[]>`
    select ${targetId(tx, target)} as target_id, finding.id, finding.state, finding.triaged_state,
      finding.state = 'dismissed' and case
        when finding.triaged_state is null then finding.reported_dismissal_source is not distinct from 'shiplock'
        else triage.source = 'shiplock'
      end as is_dismissed_here,
      (
        select alert_id
        from alert_findings
        where org_id = finding.org_id
          and finding_id = finding.id
        limit 1
      ) as alert_id
    from ${targetFindings(tx, orgId, target)}
    left join triages triage on triage.org_id = finding.org_id and triage.id = finding.triage_id
    order by finding.id`
}

function targetFindings(db: Db, orgId: string, { type, ids }: TriageTarget) {
  const column = type === 'finding' ? db`id` : db`issue_id`
  if (type === 'alert')
    return db`
      alert_findings link
      join findings finding
        on finding.org_id = link.org_id
        and finding.id = link.finding_id
        and link.org_id = ${orgId}
        and link.alert_id = any(${[...ids]}::text[])`
  return db`
    unnest(${[...ids]}::uuid[]) target_id
    join findings finding on finding.org_id = ${orgId} and finding.${column} = target_id`
}

function targetId(db: Db, { type }: TriageTarget) {
  return type === 'alert' ? db`link.alert_id` : db`target_id::text`
}

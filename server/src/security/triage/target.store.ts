import type { Db, Tx } from '../../platform/db/sql.ts'
import type { DecidableAlert } from '../alerts/alert-decision.store.ts'
import type { FindingState } from '../vocabulary/finding.ts'
import type { TriageTarget } from '../writing/triage.store.ts'

/** A finding that a triage is about. */
export type TargetFinding = {
  /** The finding, issue or alert by which the request named it. */
  target_id: string
  id: string
  state: FindingState
  triaged_state: 'open' | 'dismissed' | null
  /** Whether a person dismissed it in Shiplock. */
  is_dismissed_here: boolean
  /** Whether it is about a vulnerability of a package. */
  is_vulnerability: boolean
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
  const targetId = target.type === 'alert' ? tx`link.alert_id` : tx`target_id::text`
  return tx<TargetFinding[]>`
    select ${targetId} as target_id, finding.id, finding.state, finding.triaged_state,
      finding.state = 'dismissed' and case
        when finding.triaged_state is null then finding.reported_dismissal_source is not distinct from 'shiplock'
        else triage.source = 'shiplock'
      end as is_dismissed_here,
      finding.package_name is not null and finding.vuln_ids <> '{}' as is_vulnerability,
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

/** Records the alerts that a triage changes, with their dismissal before. */
export async function insertTriagedAlerts(
  tx: Tx,
  orgId: string,
  triageId: string,
  alerts: readonly DecidableAlert[],
): Promise<void> {
  if (alerts.length === 0) return
  await tx`
    insert into triage_alerts (org_id, triage_id, alert_id, status_before, reason_before, comment_before)
    select ${orgId}, ${triageId}, alert.*
    from unnest(
      ${alerts.map(({ id }) => id)}::text[], ${alerts.map(({ status }) => status)}::text[],
      ${alerts.map(({ dismiss_reason }) => dismiss_reason)}::text[],
      ${alerts.map(({ dismiss_comment }) => dismiss_comment)}::text[]
    ) as alert (id, status, reason, comment)`
}

/** An alert that a triage changed, and its dismissal before. */
export type TriagedAlert = {
  alert_id: string
  status_before: 'open' | 'dismissed'
  reason_before: string | null
  comment_before: string | null
}

export async function listTriagedAlerts(db: Db, orgId: string, triageId: string): Promise<TriagedAlert[]> {
  return db<TriagedAlert[]>`
    select alert_id, status_before, reason_before, comment_before
    from triage_alerts
    where org_id = ${orgId}
      and triage_id = ${triageId}
    order by no`
}

/** An open issue that only reports have stated, with its findings. */
type OpenIssue = { id: string; kind: string; title: string; repository: string; finding_ids: string[] }

/** The open issues without alerts, in the order of their repositories and fingerprints. */
export async function listOpenIssues(db: Db, orgId: string): Promise<OpenIssue[]> {
  return db<OpenIssue[]>`
    select issue.id, min(finding.kind) as kind, min(finding.title) as title, repository.name as repository,
      array_agg(finding.id order by finding.fingerprint, finding.ordinal) as finding_ids
    from security_issues issue
    join reported_repositories repository
      on repository.org_id = issue.org_id
      and repository.id = issue.repository_no
    join findings finding
      on finding.org_id = issue.org_id
      and finding.issue_id = issue.id
    where issue.org_id = ${orgId}
      and issue.listed
      and issue.status = 'open'
      and not exists (select from alert_findings where org_id = finding.org_id and finding_id = finding.id)
    group by issue.id, repository.name
    order by repository.name, (array_agg(finding.fingerprint order by finding.fingerprint))[1], issue.id
    limit 1000`
}

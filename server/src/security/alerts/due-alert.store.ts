import { buildAverageId } from '../../platform/db/average-id.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { buildDismissalColumns, buildUpdatedAt } from './alert-columns.store.ts'
import type { AlertRepository } from './host-alert.store.ts'
import type { HostAlertFacts } from './host-alert-facts.ts'

/** An alert whose finding does not show its present revision. Times are RFC 3339. */
export type DueAlert = Omit<
  HostAlertFacts,
  'references' | 'detected_at' | 'fixed_at' | 'dismissed_at' | 'host_updated_at' | 'host_status'
> & {
  revision: number
  finding_id: string | null
  status: 'open' | 'dismissed' | 'fixed'
  detected_at: string
  updated_at: string
  dismissed_at: string | null
  dismissal_source: string | null
}

/** Makes jobs of a repository's alerts take turns. Events of the alerts do not wait for them. */
export async function lockAlertFindings(tx: Tx, { org_id, provider, repository_id }: AlertRepository): Promise<void> {
  const name = `alert findings ${org_id} ${provider} ${repository_id}`
  await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`
}

/** Reads alerts whose findings are due, ordered by ref. */
export async function listDueAlerts(tx: Tx, repository: AlertRepository, limit: number): Promise<DueAlert[]> {
  return tx<DueAlert[]>`
    select alert.id, alert.provider, alert.repository_id, alert.repository, alert.type, alert.number, alert.revision,
      link.finding_id, alert.severity, alert.status, alert.title, alert.description, alert.package_ecosystem,
      alert.package_name, alert.vulnerable_versions, alert.patched_version, alert.cve_id, alert.ghsa_id,
      alert.advisory_url, alert.github_alert_url, alert.path, alert.start_line, alert.end_line, alert.start_column,
      alert.end_column, alert.commit_sha, alert.git_ref, alert.rule_id, alert.tool_name, alert.tool_version,
      alert.cwes, alert.cvss_version, alert.cvss_score, alert.cvss_vector, alert.secret_type,
      encode(alert.secret_hash, 'hex') as secret_hash, rfc3339(alert.detected_at) as detected_at,
      rfc3339(${buildUpdatedAt(tx)}) as updated_at, ${buildDismissalColumns(tx)}
    from security_alerts alert
    left join alert_findings link on link.org_id = alert.org_id and link.alert_id = alert.id
    where alert.org_id = ${buildAverageId(tx, repository.org_id)}
      and alert.provider = ${repository.provider}
      and alert.repository_id = ${repository.repository_id}
      and alert.revision is distinct from link.revision
    order by alert.git_ref nulls first, alert.id
    limit ${limit}`
}

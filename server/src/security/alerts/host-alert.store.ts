import type { OpenAlerts } from '../../codehosts/deliveries/host-event-handler.ts'
import type { HostAlertName } from '../../codehosts/host-alert.ts'
import { buildAverageId } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { buildDismissalColumns, buildUpdatedAt } from './alert.store.ts'
import type { HostAlertFacts, ReadAlert } from './host-alert-facts.ts'

/** A repository of a code host, by the host's id. */
export type AlertRepository = { org_id: string; provider: string; repository_id: string }

/**
 * Makes transactions that change alerts of a repository take turns. Each may change several alerts
 * in any order, and two of them would otherwise wait for each other.
 */
export async function lockAlerts(tx: Tx, { org_id, provider, repository_id }: AlertRepository): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`alerts ${org_id} ${provider} ${repository_id}`}, 0))`
}

/**
 * Stores an alert unless this or a newer version is stored. Returns whether anything changed. Hosts
 * round times to seconds: of states in the same second, the one that was read last is stored,
 * because an alert can be fixed and opened again.
 */
export async function upsertAlert(tx: Tx, orgId: string, facts: ReadAlert, now: Date): Promise<boolean> {
  const row = {
    ...facts,
    org_id: orgId,
    created_at: now,
    references: tx.json(facts.references),
    secret_hash: facts.secret_hash === null ? null : Buffer.from(facts.secret_hash, 'hex'),
    host_hash: Buffer.from(facts.host_hash, 'hex'),
  }
  const rows = await tx`
    insert into security_alerts ${tx(row)}
    on conflict (org_id, id) do update
    set repository = excluded.repository, severity = excluded.severity, title = excluded.title,
      description = excluded.description, package_ecosystem = excluded.package_ecosystem,
      package_name = excluded.package_name, vulnerable_versions = excluded.vulnerable_versions,
      patched_version = excluded.patched_version, cve_id = excluded.cve_id, ghsa_id = excluded.ghsa_id,
      advisory_url = excluded.advisory_url, github_alert_url = excluded.github_alert_url,
      "references" = excluded."references", path = excluded.path, start_line = excluded.start_line,
      end_line = excluded.end_line, start_column = excluded.start_column, end_column = excluded.end_column,
      commit_sha = excluded.commit_sha, git_ref = excluded.git_ref, rule_id = excluded.rule_id,
      tool_name = excluded.tool_name, tool_version = excluded.tool_version, cwes = excluded.cwes,
      cvss_version = excluded.cvss_version, cvss_score = excluded.cvss_score, cvss_vector = excluded.cvss_vector,
      secret_type = excluded.secret_type, secret_hash = excluded.secret_hash, detected_at = excluded.detected_at,
      fixed_at = excluded.fixed_at, dismissed_by = excluded.dismissed_by,
      dismissed_by_name = excluded.dismissed_by_name, dismiss_reason = excluded.dismiss_reason,
      dismiss_comment = excluded.dismiss_comment, dismissed_at = excluded.dismissed_at,
      host_updated_at = excluded.host_updated_at, host_status = excluded.host_status,
      host_facts = excluded.host_facts, host_hash = excluded.host_hash, host_read_at = excluded.host_read_at, revision = security_alerts.revision + 1
    where case
      when excluded.host_updated_at = security_alerts.host_updated_at
        and excluded.host_status <> security_alerts.host_status
        and ${buildReadAt(tx, 'excluded')} <> ${buildReadAt(tx, 'security_alerts')}
      then ${buildReadAt(tx, 'excluded')} > ${buildReadAt(tx, 'security_alerts')}
      else ${buildVersion(tx, tx`security_alerts`)} < ${buildVersion(tx, tx`excluded`)}
    end`
  if (rows.count === 0) await updateReadAt(tx, orgId, facts)
  return rows.count > 0
}

function buildReadAt(tx: Tx, alias: string) {
  return tx`coalesce(${tx(alias)}.host_read_at, '-infinity')`
}

/** Notes that the stored state was read again: nothing that was read before replaces it. */
async function updateReadAt(tx: Tx, orgId: string, { id, host_updated_at, host_status, host_read_at }: ReadAlert) {
  await tx`
    update security_alerts
    set host_read_at = ${host_read_at}
    where org_id = ${orgId}
      and id = ${id}
      and host_updated_at = ${host_updated_at}
      and host_status = ${host_status}
      and ${buildReadAt(tx, 'security_alerts')} < ${host_read_at}`
}

function buildVersion(tx: Tx, row: ReturnType<Tx>) {
  return tx`
    (
      ${row}.host_updated_at, array_position(array['open', 'dismissed', 'fixed'], ${row}.host_status),
      ${row}.host_facts, ${row}.host_hash
    )`
}

/**
 * Closes an alert that the host no longer has. It stays closed until the host states a newer
 * version of it, or the same again. Returns whether anything changed.
 */
export async function updateClosedAlert(tx: Tx, orgId: string, id: string, readAt: Date): Promise<boolean> {
  const rows = await tx`
    update security_alerts
    set host_status = 'fixed', fixed_at = ${readAt}, host_read_at = ${readAt}, revision = revision + 1
    where org_id = ${orgId}
      and id = ${id}
      and host_status <> 'fixed'`
  return rows.count > 0
}

/** The status that an alert has in Shiplock; null if it is not stored. */
export async function findAlertStatus(tx: Tx, orgId: string, id: string): Promise<string | null> {
  const [row] = await tx<{ status: string }[]>`
    select status
    from security_alerts
    where org_id = ${orgId}
      and id = ${id}`
  return row?.status ?? null
}

/**
 * Keeps an alert open that the host has dismissed: its dismissal is a proposal until the host takes
 * it back, or somebody decides about the alert here. A dismissal of our own is none.
 */
export async function updateToProposed(tx: Tx, orgId: string, id: string): Promise<void> {
  await tx`
    update security_alerts
    set is_proposed = true, own_status = 'open', own_delivery = 'pending', own_at = host_updated_at,
      own_host_updated_at = host_updated_at, own_call = null, own_by = null, own_by_name = null, own_reason = null,
      own_comment = null
    where org_id = ${orgId}
      and id = ${id}
      and status = 'dismissed'
      and not is_decided_here`
}

/** The proposal ends: the alert has the status at its host again. */
export async function updateToUnproposed(tx: Tx, orgId: string, id: string): Promise<void> {
  await tx`
    update security_alerts
    set is_proposed = false, own_status = null, own_delivery = null, own_at = null, own_host_updated_at = null
    where org_id = ${orgId}
      and id = ${id}
      and is_proposed
      and host_status <> 'dismissed'`
}

/** The alerts of a type that the host last called open, newest first. */
export async function listOpenHostAlerts(
  db: Db,
  orgId: string,
  { repository, type, limit }: OpenAlerts,
): Promise<HostAlertName[]> {
  return db<HostAlertName[]>`
    select type, number::float8 as number
    from security_alerts
    where org_id = ${orgId}
      and provider = ${repository.provider}
      and repository_id = ${repository.id}
      and type = ${type}
      and host_status = 'open'
    order by host_updated_at desc, id
    limit ${limit}`
}

/** Shows the alerts of a repository under its present name. */
export async function updateAlertRepositoryNames(tx: Tx, repository: AlertRepository, name: string): Promise<void> {
  await tx`
    update security_alerts
    set repository = ${name}
    where org_id = ${repository.org_id}
      and provider = ${repository.provider}
      and repository_id = ${repository.repository_id}
      and repository <> ${name}`
}

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

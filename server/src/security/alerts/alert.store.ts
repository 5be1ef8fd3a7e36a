import { defineExpiringWithParts, deleteBy } from '../../platform/db/expiring-rows.ts'
import { buildPageCondition } from '../../platform/db/page.ts'
import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { SINGLE_DETAIL } from '../vocabulary/finding.ts'

type AlertFilter = { status?: string | undefined; severity?: string | undefined }

/** Lists a page of alerts, newest first, plus one row if there is a next page. */
export function listAlerts(db: Db, orgId: string, page: Page, filter: AlertFilter) {
  const withStatus = filter.status === undefined ? db`` : db`and alert.status = ${filter.status}`
  const withSeverity = filter.severity === undefined ? db`` : db`and alert.severity = ${filter.severity}`
  return db<PageRow[]>`
    select alert.created_at, alert.id, ${alertJson(db, orgId)} as json
    from security_alerts alert
    where alert.org_id = ${orgId}
      and ${buildPageCondition(db, page, db`alert`, isOpenSince(db, page.since))}
      ${withStatus}
      ${withSeverity}
    order by alert.created_at desc, alert.id desc
    limit ${page.limit + 1}`
}

/** Finds an alert that is open, or was at or after `retainedSince`. Returns JSON text, or null. */
export async function findAlert(db: Db, orgId: string, id: string, retainedSince: Date): Promise<string | null> {
  const [row] = await db<{ json: string }[]>`
    select ${alertJson(db, orgId)} as json
    from security_alerts alert
    where alert.org_id = ${orgId}
      and alert.id = ${id}
      and (alert.created_at >= ${retainedSince} or ${isOpenSince(db, retainedSince)})`
  return row?.json ?? null
}

/** SQL: true for a row `alert` that is open here or at its host, or was at or after `since`. */
function isOpenSince(db: Db, since: Date): ReturnType<Db> {
  return db`(
    'open' in (alert.status, alert.host_status)
    or greatest(alert.host_updated_at, alert.fixed_at, alert.own_at) >= ${since}
  )`
}

/** The issue of an alert is that of its finding, which a job writes soon after the alert. */
function alertJson(db: Db, orgId: string) {
  return db`(
    select row_to_json(item)::text
    from (
      select alert.id, alert.org_id, alert.repository, alert.type, alert.severity, alert.title, alert.description,
        alert.package_name, alert.vulnerable_versions, alert.patched_version, alert.cve_id, alert.status,
        rfc3339(alert.detected_at) as detected_at, rfc3339(alert.fixed_at) as fixed_at, ${buildDismissalColumns(db)},
        ${buildDelivery(db)} as dismissal_delivery,
        case when ${isProposed(db)} then json_build_object(
          'by', alert.dismissed_by, 'by_name', alert.dismissed_by_name, 'reason', alert.dismiss_reason,
          'comment', alert.dismiss_comment, 'at', rfc3339(alert.dismissed_at)
        ) end as proposed_dismissal,
        alert.github_alert_url, alert.ghsa_id, alert.advisory_url,
        alert."references",
        case
          when alert.path is not null
          then json_build_object('path', alert.path, 'start_line', alert.start_line, 'end_line', alert.end_line)
        end as location,
        alert.commit_sha, alert.git_ref, alert.provider, alert.rule_id, alert.tool_name, alert.secret_type,
        rfc3339(alert.created_at) as created_at, rfc3339(${buildUpdatedAt(db)}) as updated_at, grouped.issue_id,
        grouped.finding_id, grouped.grouping_code, grouped.grouping_detail
      from (values (true)) one
      left join lateral (
        select finding.issue_id, finding.id as finding_id, finding.grouping_code,
          coalesce(finding.grouping_detail, ${SINGLE_DETAIL}) as grouping_detail
        from alert_findings link
        join findings finding on finding.org_id = link.org_id and finding.id = link.finding_id
        where link.org_id = alert.org_id ${buildSpreadCondition(db, 'link', orgId)} ${buildSpreadCondition(db, 'finding', orgId)}
          and link.alert_id = alert.id
        offset 0
      ) grouped on true
    ) item
  )`
}

/** What became of our dismissal or reopening at the host. Null once something else counts. */
function buildDelivery(db: Db) {
  return db`
    case
      when ${isProposed(db)} then null
      when alert.is_decided_here then alert.own_delivery
      when alert.own_delivery = 'failed' and alert.status <> 'fixed' and alert.status <> alert.own_status then 'failed'
    end`
}

/** SQL: true if the dismissal of a row `alert` at its host does not count (trust §4). */
function isProposed(db: Db) {
  return db`(alert.is_proposed and alert.host_status = 'dismissed')`
}

/** One line of `alert list`. */
export type ListedAlert = {
  id: string
  repository: string
  type: string
  severity: string
  status: string
  dismissal_delivery: string | null
  title: string
}

const ALERTS_LISTED_MAX = 1000

/** Lists the newest alerts for the command line, at most 1,000. */
export async function listAlertTitles(
  db: Db,
  orgId: string,
  { status, severity }: AlertFilter,
): Promise<ListedAlert[]> {
  return db<ListedAlert[]>`
    select alert.id, alert.repository, alert.type, alert.severity, alert.status,
      ${buildDelivery(db)} as dismissal_delivery, alert.title
    from security_alerts alert
    where alert.org_id = ${orgId}
      ${status === undefined ? db`` : db`and alert.status = ${status}`}
      ${severity === undefined ? db`` : db`and alert.severity = ${severity}`}
    order by alert.created_at desc, alert.id desc
    limit ${ALERTS_LISTED_MAX}`
}

/** The `dismissal_source` of an alert that was dismissed in Shiplock. */
const OWN_SOURCE = 'shiplock'

/** When an `alert` last changed: at its host, or by a dismissal or reopening in Shiplock. */
export function buildUpdatedAt(db: Db) {
  return db`greatest(alert.host_updated_at, case when alert.is_decided_here then alert.own_at end)`
}

/**
 * The dismissal of an `alert` that counts: ours or the host's. All null if Shiplock reopened it.
 */
export function buildDismissalColumns(db: Db) {
  const shown = (own: ReturnType<Db>, host: ReturnType<Db>) =>
    db`case when not alert.is_decided_here then ${host} when alert.own_status = 'dismissed' then ${own} end`
  return db`
    ${shown(db`alert.own_by`, db`alert.dismissed_by`)} as dismissed_by,
    ${shown(db`alert.own_reason`, db`alert.dismiss_reason`)} as dismiss_reason,
    ${shown(db`alert.own_comment`, db`alert.dismiss_comment`)} as dismiss_comment,
    rfc3339(${shown(db`alert.own_at`, db`alert.dismissed_at`)}) as dismissed_at,
    ${shown(db`alert.own_by_name`, db`alert.dismissed_by_name`)} as dismissed_by_name,
    case
      when alert.is_decided_here then case when alert.own_status = 'dismissed' then ${OWN_SOURCE} end
      when num_nonnulls(alert.dismissed_by, alert.dismiss_reason, alert.dismissed_at) > 0 then alert.provider
    end as dismissal_source`
}

/** Alerts that are closed at the code host, and have not changed since the retention. */
export const expiringAlerts = defineExpiringWithParts(
  {
    kind: 'alerts',
    table: 'security_alerts',
    order: 'created_at',
    isExpired: (db, { before }) => db`
      item.created_at < ${before}
      and item.status <> 'open'
      and item.host_status <> 'open'
      and item.host_updated_at < ${before}
      and (item.fixed_at is null or item.fixed_at < ${before})
      and (item.own_at is null or (item.own_at < ${before} and item.own_delivery is distinct from 'pending'))`,
  },
  (tx, orgId, ids) => deleteBy(tx, { tables: ['triage_alerts', 'alert_findings'], column: 'alert_id' }, orgId, ids),
)

import { pageOf } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'

/** Lists a page of alerts, newest first, plus one row if there is a next page. */
export async function listAlerts(
  db: Db,
  orgId: string,
  page: Page,
  filter: { status?: string | undefined; severity?: string | undefined },
): Promise<PageRow[]> {
  const withStatus = filter.status === undefined ? db`` : db`and alert.status = ${filter.status}`
  const withSeverity = filter.severity === undefined ? db`` : db`and alert.severity = ${filter.severity}`
  return db<PageRow[]>`
    select alert.created_at, alert.id, ${alertJson(db)} as json
    from security_alerts alert
    where alert.org_id = ${orgId}
      and ${pageOf(db, page, db`alert`)}
      ${withStatus}
      ${withSeverity}
    order by alert.created_at desc, alert.id desc
    limit ${page.limit + 1}`
}

/** Finds an alert that was not created before `retainedSince`. Returns JSON text, or null. */
export async function findAlert(db: Db, orgId: string, id: string, retainedSince: Date): Promise<string | null> {
  const [row] = await db<{ json: string }[]>`
    select ${alertJson(db)} as json
    from security_alerts alert
    where alert.org_id = ${orgId}
      and alert.id = ${id}
      and alert.created_at >= ${retainedSince}`
  return row?.json ?? null
}

function alertJson(db: Db) {
  return db`(
    select row_to_json(item)::text
    from (
      select alert.id, alert.org_id, alert.repository, alert.type, alert.severity, alert.title, alert.description,
        alert.package_name, alert.vulnerable_versions, alert.patched_version, alert.cve_id, alert.status,
        rfc3339(alert.detected_at) as detected_at, rfc3339(alert.fixed_at) as fixed_at, alert.dismissed_by,
        alert.dismiss_reason, alert.dismiss_comment, rfc3339(alert.dismissed_at) as dismissed_at,
        alert.dismissed_by_name, alert.dismissal_source, alert.github_alert_url, alert.ghsa_id, alert.advisory_url,
        alert."references",
        case
          when alert.path is not null
          then json_build_object('path', alert.path, 'start_line', alert.start_line, 'end_line', alert.end_line)
        end as location,
        alert.commit_sha, alert.git_ref, alert.provider, alert.rule_id, alert.tool_name, alert.secret_type,
        rfc3339(alert.created_at) as created_at, rfc3339(alert.updated_at) as updated_at, alert.issue_id,
        alert.grouping_code, alert.grouping_detail
    ) item
  )`
}

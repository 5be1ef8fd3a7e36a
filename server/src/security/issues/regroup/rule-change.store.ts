import type { Db } from '../../../platform/db/sql.ts'

/** A process that regroups an organization writes its progress more often than this. */
const SILENT_MINUTES = 2

/**
 * Returns an organization whose findings were grouped by earlier rules, and that no process is
 * regrouping or undoing.
 */
export async function findOutdatedOrganization(db: Db, now: Date): Promise<string | null> {
  const [row] = await db<{ org_id: string }[]>`
    select org_id
    from issue_rule_changes outdated
    where not exists (
      select from issue_regroups run
      where run.org_id = outdated.org_id
        and (
          run.status = 'undoing'
          or run.status = 'running' and run.updated_at > ${now}::timestamptz - make_interval(mins => ${SILENT_MINUTES})
        )
    )
    order by org_id
    limit 1`
  return row?.org_id ?? null
}

/** Whether the organization has a run that was interrupted. */
export async function hasUnfinishedRun(db: Db, orgId: string): Promise<boolean> {
  const rows = await db`
    select from issue_regroups
    where org_id = ${orgId}
      and status = 'running'`
  return rows.length > 0
}

export async function deleteRuleChange(db: Db, orgId: string): Promise<void> {
  await db`
    delete from issue_rule_changes
    where org_id = ${orgId}`
}

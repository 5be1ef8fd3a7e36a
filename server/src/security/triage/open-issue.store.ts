import type { Db } from '../../platform/db/sql.ts'

/** An open issue that only reports have stated, with its findings. */
export type OpenIssue = { id: string; repository: string; finding_ids: string[] }

/** The open issues without alerts, in the order of their repositories and fingerprints. */
export async function listOpenIssues(db: Db, orgId: string): Promise<OpenIssue[]> {
  return db<OpenIssue[]>`
    select issue.id, repository.name as repository,
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

import type { Db } from '../../platform/db/sql.ts'
import type { ReconcileOutcome } from '../reconcile/reconcile-report.ts'
import { UPLOAD_EXPIRED } from './upload-state.store.ts'

/**
 * An upload as JSON, or null. A pending upload past its time is shown as failed before the job
 * marks it.
 */
export async function findUploadJson(db: Db, orgId: string, id: string, now: Date): Promise<string | null> {
  const [row] = await db<{ json: string }[]>`
    select row_to_json(item)::text as json
    from (
      select upload.id, upload.origin,
        case when ${isExpired(db, now)} then 'failed' else upload.status end as status,
        upload.format, upload.filename, upload.size, repository.name as repository, repository.provider,
        repository.provider_id as repository_id, coalesce(upload.category, upload.report_category) as category,
        upload.git_ref, upload.commit_sha, upload.tracked,
        ${countsJson(db)} as counts, upload.truncated, upload.warnings,
        case when ${isExpired(db, now)} then ${UPLOAD_EXPIRED} else upload.error end as error,
        rfc3339(upload.created_at) as created_at,
        rfc3339(case when ${isExpired(db, now)} then upload.put_until else upload.updated_at end) as updated_at
      from security_uploads upload
      join reported_repositories repository
        on repository.org_id = upload.org_id and repository.id = upload.repository_no
      where upload.org_id = ${orgId}
        and upload.id = ${id}
    ) item`
  return row?.json ?? null
}

function isExpired(db: Db, now: Date) {
  return db`(upload.status = 'pending' and upload.put_until <= ${now})`
}

const NO_OUTCOME: ReconcileOutcome = {
  created: 0,
  updated: 0,
  unchanged: 0,
  resolved: 0,
  openBySeverity: { critical: 0, high: 0, medium: 0, low: 0 },
  newIssues: 0,
  newCritical: 0,
  newHigh: 0,
}

function countsJson(db: Db) {
  return db`
    jsonb_build_object('findings', upload.findings, 'components', upload.components)
      || coalesce(upload.outcome, ${db.json(NO_OUTCOME)}::jsonb)`
}

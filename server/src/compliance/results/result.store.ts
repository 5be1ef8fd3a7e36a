import { buildPageCondition } from '../../platform/db/page.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { createUuid } from '../../platform/ids.ts'
import type { RuleStatus } from '../policies/policy-verdict.ts'
import type { ResultStatus } from './result.schema.ts'

type ResultFilter = {
  status?: ResultStatus | undefined
  policy_id?: string | undefined
  repository?: string | undefined
}

/** Returns a page of compliance results, newest first, plus one row if there is a next page. */
export function listResults(db: Db, orgId: string, page: Page, { status, policy_id, repository }: ResultFilter) {
  const withStatus = status === undefined ? db`` : db`and result.status = ${status}`
  const ofPolicy = policy_id === undefined ? db`` : db`and result.policy_id = ${policy_id}`
  const ofRepository = repository === undefined ? db`` : db`and result.repository = ${repository}`
  return db<PageRow[]>`
    select result.created_at, result.id, ${resultJson(db)} as json
    from compliance_results result
    where result.org_id = ${orgId}
      and ${buildPageCondition(db, page, db`result`, db`result.evaluated_at >= ${page.since}`)}
      ${withStatus}
      ${ofPolicy}
      ${ofRepository}
    order by result.created_at desc, result.id desc
    limit ${page.limit + 1}`
}

function resultJson(db: Db) {
  return db`(
    select row_to_json(item)::text
    from (
      select result.id, result.org_id, result.policy_id, result.policy_name, result.status, result.details,
        result.repository, rfc3339(result.evaluated_at) as evaluated_at, rfc3339(result.created_at) as created_at,
        rfc3339(result.updated_at) as updated_at
    ) item
  )`
}

export type NewResult = {
  policy_id: string
  policy_name: string
  status: ResultStatus
  details: { rule: string; result: RuleStatus; evidence: string | null }[]
}

type RepositoryResults = { org_id: string; repository: string; results: NewResult[]; at: Date }

/** Stores a repository's results in place of earlier ones. A result with a later time is kept. */
export async function upsertResults(tx: Tx, { org_id, repository, results, at }: RepositoryResults): Promise<void> {
  const rows = results.map((result) => ({ id: createUuid(at), ...result }))
  await tx`
    insert into compliance_results as result (
      org_id, id, policy_id, policy_name, repository, status, details, evaluated_at, created_at, updated_at
    )
    select ${org_id}, id, policy_id, policy_name, ${repository}, status, details,
      case when status <> 'not_evaluated' then ${at}::timestamptz end, ${at}::timestamptz, ${at}::timestamptz
    from jsonb_to_recordset(${tx.json(rows as never)}::jsonb)
      as item (id text, policy_id text, policy_name text, status text, details jsonb)
    order by policy_id
    on conflict (org_id, policy_id, repository) do update
    set policy_name = excluded.policy_name, status = excluded.status, details = excluded.details,
      evaluated_at = excluded.evaluated_at, updated_at = excluded.updated_at
    where result.updated_at <= excluded.updated_at`
}

/** Deletes the repository's results of policies that no longer cover it. */
export async function deleteOtherResults(tx: Tx, orgId: string, repository: string, keep: NewResult[]): Promise<void> {
  await tx`
    delete from compliance_results
    where org_id = ${orgId}
      and repository = ${repository}
      and policy_id <> all(${keep.map(({ policy_id }) => policy_id)}::text[])`
}

/** Deletes results stored under `owner/name`, in any case, before the host was known. */
export async function deleteHostlessResults(tx: Tx, orgId: string, name: string): Promise<void> {
  await tx`
    delete from compliance_results
    where org_id = ${orgId}
      and lower(repository) = lower(${name})`
}

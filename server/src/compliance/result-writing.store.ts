import type { Tx } from '../platform/db/sql.ts'
import { newUuid } from '../platform/ids.ts'
import type { RuleStatus } from './policy-evaluation.ts'
import type { ResultStatus } from './result.schema.ts'

export type NewResult = {
  policy_id: string
  policy_name: string
  status: ResultStatus
  details: { rule: string; result: RuleStatus; evidence: string | null }[]
}

/** Stores what policies say of a repository, each in place of its last word. One that looked later is not overruled. */
export async function upsertResults(tx: Tx, orgId: string, repository: string, results: NewResult[], at: Date) {
  const rows = results.map((result) => ({ id: newUuid(at), ...result }))
  await tx`
    insert into compliance_results as result (
      org_id, id, policy_id, policy_name, repository, status, details, evaluated_at, created_at, updated_at
    )
    select ${orgId}, id, policy_id, policy_name, ${repository}, status, details,
      case when status <> 'not_evaluated' then ${at}::timestamptz end, ${at}::timestamptz, ${at}::timestamptz
    from jsonb_to_recordset(${tx.json(rows as never)}::jsonb)
      as item (id text, policy_id text, policy_name text, status text, details jsonb)
    order by policy_id
    on conflict (org_id, policy_id, repository) do update
    set policy_name = excluded.policy_name, status = excluded.status, details = excluded.details,
      evaluated_at = excluded.evaluated_at, updated_at = excluded.updated_at
    where result.updated_at <= excluded.updated_at`
}

/** Removes what policies said that are bound to the repository no more. */
export async function deleteOtherResults(tx: Tx, orgId: string, repository: string, keep: NewResult[]) {
  await tx`
    delete from compliance_results
    where org_id = ${orgId}
      and repository = ${repository}
      and policy_id <> all(${keep.map(({ policy_id }) => policy_id)}::text[])`
}

/** Removes what was said of a repository while it was known as `owner/name` only, in whatever case. */
export async function deleteHostlessResults(tx: Tx, orgId: string, name: string) {
  await tx`
    delete from compliance_results
    where org_id = ${orgId}
      and lower(repository) = lower(${name})`
}

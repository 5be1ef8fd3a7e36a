import { defineExpiringRows, defineExpiringWithParts, deleteBy } from '../platform/db/expiring-rows.ts'
import type { Db, Tx } from '../platform/db/sql.ts'

const PARTS = {
  tables: ['deployment_answers', 'deployment_statuses', 'opened_gates', 'required_gates'],
  column: 'deployment_id',
}

/**
 * SQL: true for a deployment that waits for an approval, runs in its environment, or did so at
 * `since`: it is kept and listed however old it is (decisions §4).
 */
export function buildIsOpenDeployment(db: Db, row: ReturnType<Db>, since: Date): ReturnType<Db> {
  return db`(
    ${row}.status = 'pending_approval'
    or ${row}.updated_at >= ${since}
    or (${row}.status = 'success' or ${row}.succeeded_at is not null) and not exists (
      select from deployments newer
      where newer.org_id = ${row}.org_id
        and newer.repository_full_name = ${row}.repository_full_name
        and newer.environment = ${row}.environment
        and (newer.created_at, newer.id) > (${row}.created_at, ${row}.id)
        and newer.created_at < ${since}
        and (newer.status = 'success' or newer.succeeded_at is not null)
    )
  )`
}

/** Deployments with their gates, answers and statuses. */
export const expiringDeployments = defineExpiringWithParts(
  {
    kind: 'deployments',
    table: 'deployments',
    order: 'created_at',
    isExpired: (db, { before }) => db`
      item.created_at < ${before}
      and not ${buildIsOpenDeployment(db, db`item`, before)}`,
  },
  async (tx, orgId, ids) => {
    await deleteReviews(tx, orgId, ids)
    await deleteBy(tx, PARTS, orgId, ids)
  },
)

/** The reviews of a run belong to all deployments of the run to the environment. */
async function deleteReviews(tx: Tx, orgId: string, ids: readonly string[]): Promise<void> {
  await tx`
    delete from deployment_reviews review
    using deployments item
    where item.org_id = ${orgId}
      and item.id = any(${[...ids]})
      and review.org_id = item.org_id
      and review.provider = item.provider
      and review.repository_id = item.repository_id
      and review.run_id = item.host_run_id
      and review.environment = item.environment
      and not exists (
        select from deployments other
        where other.org_id = item.org_id
          and other.pipeline_run_id = item.pipeline_run_id
          and other.environment = item.environment
          and other.id <> all(${[...ids]})
      )`
}

/** Reviews that no deployment was stored for. The others go with the last of their deployments. */
export const expiringReviews = defineExpiringRows({
  kind: 'deployment_reviews',
  table: 'deployment_reviews',
  key: ['provider', 'repository_id', 'run_id', 'environment', 'attempt', 'state', 'reviewer'],
  order: 'at',
  isExpired: (db, { before }) => db`
    item.at < ${before}
    and not exists (
      select from deployments deployment
      where deployment.org_id = item.org_id
        and deployment.provider = item.provider
        and deployment.repository_id = item.repository_id
        and deployment.environment = item.environment
        and deployment.host_run_id = item.run_id
    )`,
})

/** Requests of code hosts for an approval. Those that a waiting deployment may need stay. */
export const expiringGateRequests = defineExpiringRows({
  kind: 'deployment_gate_requests',
  table: 'deployment_gate_requests',
  key: ['provider', 'repository_id', 'environment', 'run_id', 'attempt', 'deployment_id'],
  order: 'requested_at',
  isExpired: (db, { before }) => db`
    item.requested_at < ${before}
    and not exists (
      select from deployments deployment
      where deployment.org_id = item.org_id
        and deployment.provider = item.provider
        and deployment.repository_id = item.repository_id
        and deployment.environment = item.environment
        and deployment.status = 'pending_approval'
    )`,
})

/** What deployments show of runs that have none any more. */
export const expiringDeploymentRuns = defineExpiringRows({
  kind: 'deployment_runs',
  table: 'deployment_runs',
  key: ['run_id', 'attempt'],
  order: 'created_at',
  isExpired: (db, { before }) => db`
    item.created_at < ${before}
    and not exists (
      select from deployments deployment
      where deployment.org_id = item.org_id
        and deployment.pipeline_run_id = item.run_id
    )`,
})

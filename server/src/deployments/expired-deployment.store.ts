import { defineExpiringRows, defineExpiringWithParts, deleteBy } from '../platform/db/expiring-rows.ts'
import type { Db, Tx } from '../platform/db/sql.ts'
import { buildEnvironmentsEqual } from '../repositories/repository.store.ts'
import { buildHasRun } from './live-deployment.store.ts'

const PARTS = {
  tables: [
    'deployment_answers',
    'deployment_statuses',
    'deployment_subjects',
    'opened_gates',
    'required_gates',
    'live_deployments',
  ],
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
    or ${buildHasRunSince(db, row, since)}
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

/** SQL: whether a row has the environment of `item`. */
function isSameEnvironment(db: Db, alias: string) {
  return buildEnvironmentsEqual(db, [db`${db(alias)}.environment`, db`item.environment`], {
    provider: db`item.provider`,
  })
}

/**
 * SQL: whether a deployment runs, or has run at or after a time. Not by `exists`, which the planner
 * may answer from a table of all rows.
 */
function buildHasRunSince(db: Db, row: ReturnType<Db>, time: Date) {
  return db`(
    case
      -- Until it is filled in after an upgrade, it may be what runs.
      when ${row}.live_unit is null then ${buildHasRun(db, row)}
      else (
        select true
        from deployments newer
        where newer.org_id = ${row}.org_id
          and newer.live_unit = ${row}.live_unit
          and newer.live_lane = ${row}.live_lane
          and (newer.live_at, newer.id) > (${row}.live_at, ${row}.id)
          and newer.live_at < ${time}
        limit 1
      ) is null
      and (
        select true
        from live_deployments live
        where live.org_id = ${row}.org_id
          and live.deployment_id = ${row}.id
          and live.ended_at < ${time}
        limit 1
      ) is null
    end
  )`
}

/** SQL: whether a deployment that is kept longer than its age belongs to a run `item`. */
export function buildHasKeptDeployment(db: Db, before: Date) {
  return db`exists (
    select from deployments kept
    where kept.org_id = item.org_id
      and kept.pipeline_run_id = item.id
      and kept.created_at < ${before}
      and kept.live_unit is not null
  )`
}

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
      and ${isSameEnvironment(tx, 'review')}
      and not exists (
        select from deployments other
        where other.org_id = item.org_id
          and other.pipeline_run_id = item.pipeline_run_id
          and ${isSameEnvironment(tx, 'other')}
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
        and ${isSameEnvironment(db, 'deployment')}
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
        and ${isSameEnvironment(db, 'deployment')}
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

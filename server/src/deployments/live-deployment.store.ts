import { buildAttemptFact, buildAttemptRepository, buildLinkedRepository } from '../ci/runs/run.store.ts'
import { TRUST_CLASSES, type TrustClass } from '../ci/runs/trust.ts'
import type { Db, Tx } from '../platform/db/sql.ts'
import type { DeploymentKey } from './deployment-state.ts'
import type { LiveFacts, LivePlace } from './live-unit.ts'

/** What says where a deployment runs; null if there is no such deployment. */
export async function findLiveFacts(db: Db, { org_id, id }: DeploymentKey): Promise<LiveFacts | null> {
  const [row] = await db<LiveFacts[]>`
    select deployment.host_id is not null as is_of_host, deployment.repository_id, deployment.workflow_path,
      deployment.job_id, deployment.live_at, deployment.live_unit, deployment.live_lane,
      deployment.provider, deployment.environment,
      coalesce(
        deployment.host || '/' || deployment.repository_full_name, ${buildAttemptRepository(db, org_id, 'deployment')},
        deployment.repository_full_name
      ) as address,
      case when deployment.host_id is null then ${buildAttemptFact(db, org_id, 'deployment', buildLinkedRepository(db, org_id))} end
        as linked,
      case when deployment.host_id is not null then 'verified' else coalesce(
        (
          select coalesce(gate.opener_lane, gate.lane)
          from opened_gates gate
          where gate.org_id = ${org_id}
            and gate.deployment_id = deployment.id
        ),
        ${buildAttemptFact(db, org_id, 'deployment', db`run.trust`)},
        'self_reported'
      ) end as lane
    from deployments deployment
    where deployment.org_id = ${org_id}
      and deployment.id = ${id}`
  return row ?? null
}

/**
 * Makes the row of a unit where it is missing, and locks it until the transaction ends: whoever
 * changes what runs there waits. Returns the deployment that it names; null for a new row.
 */
export async function lockLiveUnit(tx: Tx, orgId: string, { unit, lane }: LivePlace): Promise<string | null> {
  const [row] = await tx<[{ deployment_id: string | null }]>`
    insert into live_deployments as live (org_id, unit, lane)
    values (${orgId}, ${unit}, ${lane})
    on conflict (org_id, unit, lane) do update
    set unit = live.unit
    returning deployment_id`
  return row.deployment_id
}

/**
 * Stores what runs in a locked unit: the deployment that succeeded last, of those of one time the
 * one with the greatest id. It has ended if its host or somebody said so since.
 */
export async function updateLiveUnit(tx: Tx, orgId: string, { unit, lane }: LivePlace): Promise<string | null> {
  const [row] = await tx<{ deployment_id: string }[]>`
    update live_deployments live
    set deployment_id = newest.id, since = newest.live_at,
      ended_at = case when newest.is_inactive then newest.inactive_at when newest.is_ended then newest.live_ended_at end,
      ended_reason = case when newest.is_inactive then 'inactive' when newest.is_ended then 'stated' end
    from (
      select id, live_at, inactive_at, live_ended_at, inactive_at is not null as is_inactive,
        coalesce(live_ended_at >= live_at, false) as is_ended
      from deployments
      where org_id = ${orgId}
        and live_unit = ${unit}
        and live_lane = ${lane}
        and live_at is not null
      order by live_at desc, id desc
      limit 1
    ) newest
    where live.org_id = ${orgId}
      and live.unit = ${unit}
      and live.lane = ${lane}
    returning live.deployment_id`
  return row?.deployment_id ?? null
}

/** Removes a unit, if what it names has not succeeded after a time. */
export async function deleteLiveUnit(
  tx: Tx,
  orgId: string,
  { unit, lane }: LivePlace,
  succeededUntil: Date | null,
): Promise<void> {
  await tx`
    delete from live_deployments
    where org_id = ${orgId}
      and unit = ${unit}
      and lane = ${lane}
      ${succeededUntil === null ? tx`` : tx`and since <= ${succeededUntil}`}`
}

/** Whether a deployment runs, and the lane of who says so; null if it does not. */
export async function findLiveLane(db: Db, { org_id, id }: DeploymentKey): Promise<TrustClass | null> {
  const [row] = await db<{ lane: TrustClass }[]>`
    select lane
    from live_deployments
    where org_id = ${org_id}
      and deployment_id = ${id}
      and ended_at is null`
  return row?.lane ?? null
}

/**
 * Deployments of all organizations that have succeeded and have no unit, the newest first: those
 * that were stored before units were.
 */
export async function listWithoutUnit(db: Db, limit: number): Promise<DeploymentKey[]> {
  return db<DeploymentKey[]>`
    select org_id, id
    from deployments
    where live_unit is null
      and ${buildHasRun(db, db`deployments`)}
    order by created_at desc
    limit ${limit}`
}

/** SQL: whether a deployment has succeeded, also one that was stored before that was kept. */
export function buildHasRun(db: Db, row: ReturnType<Db>) {
  return db`(${row}.succeeded_at is not null or (${row}.status = 'success' and ${row}.host_id is null))`
}

const LANES = [...TRUST_CLASSES]

/** SQL: whether a deployment runs. `alias` is that of `deployments`. */
export function buildIsLive(db: Db, alias: string) {
  const of = db(alias)
  return db`exists (
    select from live_deployments live
    where live.org_id = ${of}.org_id
      and live.deployment_id = ${of}.id
      and live.ended_at is null
  )`
}

/**
 * SQL: `live` of a deployment: since when it runs in which slot, and null if it does not. It is
 * stale if a stronger lane has stated a later success in the same unit (decisions §11).
 */
export function buildLive(db: Db, alias: string) {
  const of = db(alias)
  return db`(
    select json_build_object(
      'since', rfc3339(live.since), 'slot', nullif(live.unit::jsonb ->> 4, ''), 'trust', live.lane,
      'stale', exists (
        select from live_deployments stronger
        where stronger.org_id = live.org_id
          and stronger.unit = live.unit
          and stronger.since > live.since
          and stronger.lane = any((${LANES}::text[])[:array_position(${LANES}::text[], live.lane) - 1])
      )
    )
    from live_deployments live
    where live.org_id = ${of}.org_id
      and live.deployment_id = ${of}.id
      and live.ended_at is null
  )`
}

/** SQL: the deployments of an organization that run, with `since` and when their runs began. */
export function buildLiveDeployments(db: Db, orgId: string) {
  return db`
    select deployment.*, live.unit, live.lane, live.since,
      coalesce(deployment.run_created_at, deployment.created_at) as begun_at
    from live_deployments live
    join deployments deployment on deployment.org_id = live.org_id and deployment.id = live.deployment_id
    where live.org_id = ${orgId}
      and live.ended_at is null`
}

import { buildSpreadCondition } from '../platform/db/spread.ts'
import type { Db } from '../platform/db/sql.ts'

/** SQL: the first and the last time at which the deployments were created. */
export type CreationTimes = { since: ReturnType<Db>; until: ReturnType<Db> }

/**
 * SQL: the deployments that were created from `since` until `until` and finished, as (id, day,
 * environment, repository, failed, lead_seconds, restore_seconds). Every lookup of a deployment
 * follows an index, so that the cost grows with the days only.
 */
export function buildDeliveryFacts(db: Db, orgId: string, { since, until }: CreationTimes): ReturnType<Db> {
  return db`(
    select deployment.id, deployment.created_at::date as day, deployment.environment,
      deployment.repository_full_name as repository, deployment.status in ('failure', 'rolled_back') as failed,
      case when coalesce(deployment.succeeded_at, deployment.deployed_at) is null then '{}'::int[]
        else ${leadSeconds(db, orgId)} end as lead_seconds,
      case when deployment.status = 'success' then '{}'::int[] else ${restoreSeconds(db, orgId)} end as restore_seconds
    from deployments deployment
    where deployment.org_id = ${orgId}
      and deployment.status in ('success', 'failure', 'rolled_back')
      and deployment.created_at between ${since} and ${until}
  )`
}

/**
 * The seconds from the landing of each change to its deployment: the changes of the branch after
 * the one that was deployed before. Without a change record, the seconds since the start of the
 * run, or else of the deployment.
 */
function leadSeconds(db: Db, orgId: string) {
  return db`coalesce(
    (
      select array_agg(${secondsBetween(db, db`change.created_at`, deployedAt(db, 'deployment'))})
      from (${landedChange(db, orgId, 'deployment')}) own
      left join lateral (
        select before.landed_at, before.branch
        from deployments earlier
        join lateral (${landedChange(db, orgId, 'earlier')}) before on true
        where ${samePlace(db, orgId, 'earlier')}
          and (earlier.created_at, earlier.id) < (deployment.created_at, deployment.id)
          and ${deployedAt(db, 'earlier')} is not null
        order by earlier.created_at desc, earlier.id desc
        limit 1
      ) previous on previous.branch = own.branch
      cross join lateral (
        select landed.created_at
        from changes landed
        where repository_key(landed.org_id, landed.provider, landed.repository_id)
            = repository_key(${orgId}, deployment.provider, deployment.repository_id)
          ${buildSpreadCondition(db, 'landed', orgId)}
          and landed.branch = own.branch
          and landed.created_at > previous.landed_at
          and landed.created_at <= own.landed_at
        union all
        select own.landed_at
        where previous.landed_at is null
      ) change
    ),
    case when exists (${landedChange(db, orgId, 'deployment')}) then '{}'::int[]
      else array[${secondsBetween(db, db`coalesce(deployment.run_created_at, deployment.created_at)`, deployedAt(db, 'deployment'))}]
    end
  )`
}

/**
 * The seconds until a rollback or the next success, of the first of several failures in a row.
 */
function restoreSeconds(db: Db, orgId: string) {
  return db`coalesce(
    (
      select array[${secondsBetween(
        db,
        db`coalesce(${deployedAt(db, 'deployment')}, deployment.created_at)`,
        db`restored.at`,
      )}]
      from (
        select coalesce(deployment.rollback_at, (
          select ${deployedAt(db, 'later')}
          from deployments later
          where ${samePlace(db, orgId, 'later')}
            and (later.created_at, later.id) > (deployment.created_at, deployment.id)
            and later.status = 'success'
          order by later.created_at, later.id
          limit 1
        )) as at
      ) restored
      where restored.at is not null
        and coalesce((
          select earlier.status
          from deployments earlier
          where ${samePlace(db, orgId, 'earlier')}
            and (earlier.created_at, earlier.id) < (deployment.created_at, deployment.id)
            and earlier.status in ('success', 'failure', 'rolled_back')
          order by earlier.created_at desc, earlier.id desc
          limit 1
        ), 'success') = 'success'
    ),
    '{}'::int[]
  )`
}

/** The change record of a deployment's commit. */
function landedChange(db: Db, orgId: string, of: 'deployment' | 'earlier') {
  return db`
    select change.branch, change.created_at as landed_at
    from change_commits named
    cross join lateral (
      select landed.branch, landed.created_at, landed.provider, landed.repository_id
      from changes landed
      where landed.org_id = ${orgId}
        and landed.id = named.change_id
      offset 0
    ) change
    where named.org_id = ${orgId}
      and named.sha = ${db(of)}.commit_sha
      and change.provider = ${db(of)}.provider
      and change.repository_id = ${db(of)}.repository_id
    order by change.created_at desc
    limit 1`
}

/** The same repository and environment as that of `deployment`. */
function samePlace(db: Db, orgId: string, of: 'earlier' | 'later') {
  return db`
    ${db(of)}.org_id = ${orgId}
    and ${db(of)}.repository_full_name = deployment.repository_full_name
    and ${db(of)}.environment = deployment.environment
    and ${db(of)}.provider is not distinct from deployment.provider`
}

function deployedAt(db: Db, of: string): ReturnType<Db> {
  return db`coalesce(${db(of)}.succeeded_at, ${db(of)}.deployed_at)`
}

function secondsBetween(db: Db, from: ReturnType<Db>, to: ReturnType<Db>): ReturnType<Db> {
  return db`least(greatest(0, floor(extract(epoch from ${to} - ${from}))), 2147483647)::int`
}

import { buildPlaceColumns, buildPlaces, type Place } from '../deployments/deployment-list.store.ts'
import { listEnvironmentEntries } from '../deployments/environments/environment.store.ts'
import {
  getEnvironmentFacts,
  isProductionByEarlierRule,
  isProductionName,
} from '../deployments/environments/environment-facts.ts'
import { getUtcDayStart } from '../platform/clock.ts'
import type { Db, Tx } from '../platform/db/sql.ts'
import { buildCountedUntil, type CountedDays } from './counted-days.store.ts'
import { buildDeliveryFacts, type CreationTimes } from './delivery-facts.store.ts'
import type { TrendDays } from './trend-days.ts'

/** `repository` is `owner/name`. */
type DeliverySelection = TrendDays & Production & { repository: string | null; now: Date }

/** The deployments that finished, by the day (UTC) of their creation. The times are medians. */
export type DeliveryDay = {
  /** Null for the whole time. */
  date: string | null
  deployments: number
  failed_deployments: number
  lead_time_seconds: number | null
  restore_seconds: number | null
}

/**
 * Which environments are production: `names` where nothing is stated of the place. `environments`
 * are all of them, to be shown; some can be production of some repositories only.
 */
type ProductionRule = { names: string[]; environments: string[] }

/** What is counted before a day: the environments that were production by the rule of that time. */
export type EarlierRule = ProductionRule & { until: Date }

/** An environment of a repository. `production` is null if nobody has stated whether it is. */
type StatedPlace = { environment: string; repository: string; production: boolean | null }

export type Production = ProductionRule & { earlier: EarlierRule | null; places: readonly StatedPlace[] }

/**
 * The environments that are production (decisions §11). What people state holds for all days. Where
 * nothing is stated the name decides, and days from before the present rule for names keep the rule
 * that they were shown by: those until `earlier.until`.
 */
export async function listProductionEnvironments(db: Db, orgId: string): Promise<Production> {
  const [all, [organization], places] = await Promise.all([
    listNamesOfProduction(db, orgId),
    db<{ since: Date | null }[]>`select production_rule_since as since from organizations where id = ${orgId}`,
    listStatedPlaces(db, orgId),
  ])
  const until = organization?.since ?? null
  const select = (isProduction: (name: string) => boolean) => {
    const names = all.filter(isProduction)
    const counted = places.filter(({ environment, production }) => production ?? names.includes(environment))
    const environments = [...new Set(counted.map(({ environment }) => environment))].sort()
    return { names, environments: places.length === 0 ? names : environments }
  }
  const earlier = until === null ? null : { until: getUtcDayStart(until), ...select(isProductionByEarlierRule) }
  return { ...select(isProductionName), earlier, places }
}

const PLACES_MAX = 10_000

/** Nothing is read of the deployments unless an entry states whether something is production. */
async function listStatedPlaces(db: Db, orgId: string): Promise<StatedPlace[]> {
  const entries = await listEnvironmentEntries(db, orgId)
  if (entries.every(({ production }) => production === null)) return []
  const places = await db<(Place & { repository: string })[]>`
    with recursive place as (${buildPlaces(db, orgId)})
    select newest.*
    from place
    cross join lateral (
      select deployment.repository_full_name as repository, ${buildPlaceColumns(db, orgId, 'deployment')}
      from deployments deployment
      where deployment.org_id = ${orgId}
        and deployment.repository_full_name = place.repository_full_name
        and deployment.environment = place.environment
      order by deployment.created_at desc, deployment.id desc
      limit 1
    ) newest
    limit ${PLACES_MAX}`
  return places.map(({ repository, address, ...place }) => {
    const { production, isProductionStated } = getEnvironmentFacts(entries, { ...place, repository: address })
    return { environment: place.environment, repository, production: isProductionStated ? production : null }
  })
}

/** The names of environments that can be those of production. */
async function listNamesOfProduction(db: Db, orgId: string): Promise<string[]> {
  // Each step finds the next name in the index.
  const rows = await db<{ environment: string }[]>`
    with recursive named as (
      (select environment from deployments where org_id = ${orgId} order by environment limit 1)
      union all
      select (
        select environment
        from deployments
        where org_id = ${orgId}
          and environment > named.environment
        order by environment
        limit 1
      )
      from named
      where named.environment is not null
    )
    select environment
    from named
    where environment ~* 'prod|prd|live'
    limit 10000`
  return rows.map(({ environment }) => environment)
}

/**
 * The four key metrics of DORA for each day and for the whole time. Days that the job has counted
 * come from `delivery_days`; the last ones are counted now.
 */
export async function listDeliveryDays(db: Db, orgId: string, selection: DeliverySelection): Promise<DeliveryDay[]> {
  const { names, earlier, places, from, to, now, repository } = selection
  const counted =
    earlier === null
      ? db`${names}::text[]`
      : db`case when day < ${earlier.until}::date then ${earlier.names}::text[] else ${names}::text[] end`
  const stated = places.filter(({ production }) => production !== null)
  const isSelected = db`
    coalesce(
      (
        select place.production
        from unnest(
          ${stated.map((place) => place.environment)}::text[], ${stated.map((place) => place.repository)}::text[],
          ${stated.map((place) => place.production)}::boolean[]
        ) place (environment, repository, production)
        where place.environment = counted_place.environment
          and place.repository = counted_place.repository
      ),
      environment = any(${counted})
    )
    ${repository === null ? db`` : db`and repository = ${repository}`}`
  const until = buildCountedUntil(db, orgId, 'delivery')
  const recent: CreationTimes = {
    since: db`greatest(${from}::timestamptz, ${until})`,
    until: db`least(${now}::timestamptz, ${to}::timestamptz + interval '1 day' - interval '1 millisecond')`,
  }
  return db<DeliveryDay[]>`
    with counted as materialized (
      select day, deployments, failed, lead_seconds, restore_seconds
      from delivery_days counted_place
      where org_id = ${orgId}
        and day between ${from}::date and ${to}::date
        and day < ${until}
        and ${isSelected}
      union all
      select day, 1, failed::int, lead_seconds, restore_seconds
      from ${buildDeliveryFacts(db, orgId, recent)} counted_place
      where ${isSelected}
    ),
    added as (
      select day, sum(deployments)::int as deployments, sum(failed)::int as failed
      from counted
      group by grouping sets ((day), ())
    ),
    led as (
      select day, percentile_cont(0.5) within group (order by seconds) as seconds
      from counted
      cross join unnest(lead_seconds) seconds
      group by grouping sets ((day), ())
    ),
    restored as (
      select day, percentile_cont(0.5) within group (order by seconds) as seconds
      from counted
      cross join unnest(restore_seconds) seconds
      group by grouping sets ((day), ())
    )
    select to_char(added.day, 'YYYY-MM-DD') as date, coalesce(deployments, 0) as deployments,
      coalesce(failed, 0) as failed_deployments, round(led.seconds)::bigint as lead_time_seconds,
      round(restored.seconds)::bigint as restore_seconds
    from added
    left join led on led.day is not distinct from added.day
    left join restored on restored.day is not distinct from added.day
    order by added.day nulls last`
}

/** Counts the deployments of these days again. */
export async function countDeliveryDays(tx: Tx, { org_id: orgId, from, until }: CountedDays): Promise<void> {
  const since = from ?? new Date(0)
  await tx`
    delete from delivery_days
    where org_id = ${orgId}
      and day >= ${since}::date
      and day < ${until}::date`
  const counted: CreationTimes = {
    since: tx`${since}::timestamptz`,
    until: tx`${until}::timestamptz - interval '1 millisecond'`,
  }
  await tx`
    insert into delivery_days (
      org_id, day, environment, repository, deployments, failed, lead_seconds, restore_seconds
    )
    select ${orgId}, day, environment, repository, count(distinct id), count(distinct id) filter (where failed),
      coalesce(array_agg(lead) filter (where lead is not null), '{}'),
      coalesce(array_agg(restore) filter (where restore is not null), '{}')
    from ${buildDeliveryFacts(tx, orgId, counted)} fact
    left join lateral (
      select lead, null::int as restore
      from unnest(lead_seconds) lead
      union all
      select null, restore
      from unnest(restore_seconds) restore
    ) times on true
    group by day, environment, repository`
}

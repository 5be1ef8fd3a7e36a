import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'

/** The lane of the credential that sent the file of an upload first. `upload` is its row. */
export function buildUploadLane(db: Db, upload: ReturnType<Db>): ReturnType<Db> {
  return db`
    case
      when ${upload}.trust in ('verified', 'untrusted') then ${upload}.trust
      when ${upload}.origin = 'ui' then 'person'
      else 'key'
    end`
}

/**
 * The lane of a stream. One that was stored without a lane has that of its newest report (decisions
 * §7) until it is settled. Alerts are the code host's own words.
 */
export function buildStreamLane(db: Db, orgId: string, stream: ReturnType<Db>): ReturnType<Db> {
  return db`
    case
      when ${stream}.origin = 'alert' then 'verified'
      else coalesce(
        ${stream}.lane,
        (
          select ${buildUploadLane(db, db`newest`)}
          from security_uploads newest
          where newest.org_id = ${stream}.org_id ${buildSpreadCondition(db, 'newest', orgId)}
            and newest.id = ${stream}.upload_id
        ),
        'key'
      )
    end`
}

/**
 * SQL: what tells streams apart that are not of reports: `alert` or `inventory`. An uploaded report
 * never falls into one of them, whatever its tool is called.
 */
export function buildStreamKind(db: Db, origin: ReturnType<Db>): ReturnType<Db> {
  return db`(case when ${origin} in ('alert', 'inventory') then ${origin} else '' end)`
}

/** Sorts lanes: what is weaker has a lower rank. */
export function buildLaneRank(db: Db, lane: ReturnType<Db>): ReturnType<Db> {
  return db`case ${lane} when 'verified' then 2 when 'untrusted' then 0 else 1 end`
}

/** A lane as users read it (decisions §7). What a job of an API key reports is not an upload. */
export function buildShownTrust(
  db: Db,
  { lane, origin }: { lane: ReturnType<Db>; origin: ReturnType<Db> },
): ReturnType<Db> {
  return db`
    case ${lane}
      when 'person' then 'ui'
      when 'key' then case ${origin} when 'report' then 'self_reported' else 'uploaded' end
      else ${lane}
    end`
}

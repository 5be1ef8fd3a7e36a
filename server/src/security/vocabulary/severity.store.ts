import type { Db } from '../../platform/db/sql.ts'
import { SEVERITIES, type Severity, toSeverityRank } from './severity.ts'

/** `toSeverityRank` of an SQL expression. */
export function buildSeverityRank(db: Db, severity: ReturnType<Db>): ReturnType<Db> {
  return db`(${SEVERITIES.length} - array_position(${SEVERITIES}::text[], ${severity}))`
}

/** The severity that an SQL expression is the rank of. */
export function buildRankedSeverity(db: Db, rank: ReturnType<Db>): ReturnType<Db> {
  return db`(${SEVERITIES}::text[])[${SEVERITIES.length} - ${rank}]`
}

/** Counts rows by severity, as a JSON object with every severity. `rank` is an SQL expression. */
export function buildSeverityCounts(db: Db, rank: ReturnType<Db>): ReturnType<Db> {
  const count = (severity: Severity): ReturnType<Db> =>
    db`${severity}::text, count(*) filter (where ${rank} = ${toSeverityRank(severity)})`
  const [first, ...others] = SEVERITIES
  return db`json_build_object(${others.reduce((all, severity) => db`${all}, ${count(severity)}`, count(first))})`
}

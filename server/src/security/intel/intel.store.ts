import type { Db } from '../../platform/db/sql.ts'
import type { Severity } from '../vocabulary/severity.ts'
import { DISTRIBUTION_CVE } from '../vocabulary/vulnerability-id.ts'
import { buildPackageKey, buildPackageType, buildRelease } from './advisory.store.ts'
import { buildAsOfDate } from './intel-source.store.ts'

/**
 * The current intelligence about a row's vulnerability, as the specification's `intel`. `subject`
 * is the alias of a table with vuln_ids, package_name, package_version, purl, fixed_version,
 * cvss_version, cvss_score and cvss_vector. Most findings name no vulnerability; they need no
 * lookup.
 */
export function buildIntel(db: Db, subject: ReturnType<Db>) {
  return db`
    case
      when ${subject}.vuln_ids = '{}'
      then ${shape(db, reported(db, subject))}
      else (
        select ${shape(db, lookedUp(db, subject))}
        from ${knownIds(db, subject)} known
        left join ${buildAdvisory(db)} advisory on true
      )
    end`
}

type Expression = ReturnType<typeof nothing>

/** The members of `intel`. */
type Members = Record<
  'canonicalId' | 'kev' | 'epss' | 'cvss' | 'severity' | 'withdrawn' | 'hasFix' | 'modified',
  Expression
>

function shape(db: Db, { canonicalId, kev, epss, cvss, severity, withdrawn, hasFix, modified }: Members) {
  return db`
    json_build_object(
      'canonical_id', ${canonicalId}, 'kev', ${kev}, 'epss', ${epss}, 'cvss', ${cvss}, 'advisory_severity', ${severity},
      'withdrawn', ${withdrawn}, 'fix_available', ${hasFix},
      'as_of', json_build_object(
        'kev', ${sourceDate(db, db`'kev'`)}, 'epss', ${sourceDate(db, db`'epss'`)}, 'advisory', ${modified}
      )
    )`
}

/** The values that the report itself states. */
function reported(db: Db, subject: ReturnType<Db>): Members {
  const [cvss, hasFix] = [reportedCvss(db, subject), db`${subject}.fixed_version is not null`]
  const none = nothing(db)
  return { canonicalId: none, kev: none, epss: none, cvss, severity: none, withdrawn: none, hasFix, modified: none }
}

function nothing(db: Db) {
  return db`null`
}

function lookedUp(db: Db, subject: ReturnType<Db>): Members {
  return {
    canonicalId: db`known.canonical_id`,
    kev: kevJson(db),
    epss: epssJson(db),
    cvss: cvssJson(db, subject),
    severity: db`advisory.severity`,
    withdrawn: db`advisory.withdrawn`,
    hasFix: isFixAvailable(db, subject),
    modified: db`to_char(advisory.modified at time zone 'UTC', 'YYYY-MM-DD')`,
  }
}

/** All ids of the row's vulnerability, with aliases, and the canonical one. */
function knownIds(db: Db, subject: ReturnType<Db>) {
  return db`(
    select array_agg(coalesce(member.id, reported.id)) || ${subject}.vuln_ids as ids,
      coalesce(
        min(coalesce(own.canonical_id, reported.id)) filter (where coalesce(own.canonical_id, reported.id) like 'CVE-%'),
        min(coalesce(own.canonical_id, reported.id)) filter (where coalesce(own.canonical_id, reported.id) like 'GHSA-%'),
        min(coalesce(own.canonical_id, reported.id))
      ) as canonical_id
    from (select regexp_replace(id, ${DISTRIBUTION_CVE}, '\\1') as id from unnest(${subject}.vuln_ids) id) reported
    left join vulnerability_aliases own on own.id = reported.id
    left join vulnerability_aliases member on member.canonical_id = own.canonical_id
  )`
}

function kevJson(db: Db) {
  return db`(
    select json_build_object(
      'cve_id', cve_id, 'date_added', date_added, 'due_date', due_date, 'ransomware', ransomware
    )
    from intel_kev
    where cve_id = any(known.ids)
    order by date_added, cve_id
    limit 1
  )`
}

function epssJson(db: Db) {
  return db`(
    select json_build_object('score', score, 'percentile', percentile, 'date', ${sourceDate(db, db`'epss'`)})
    from intel_epss
    where cve_id = any(known.ids)
    order by score desc, cve_id
    limit 1
  )`
}

/**
 * The most informative advisory: not withdrawn, with a severity, rated by the newest version of
 * CVSS.
 */
function buildAdvisory(db: Db) {
  return db`lateral (
    select modified, withdrawn, severity, cvss_version, cvss_score, cvss_vector
    from intel_advisories
    where id = any(known.ids)
    order by withdrawn, severity is null, cvss_version desc nulls last, cvss_score desc nulls last, id
    limit 1
  )`
}

export type GroupRating = {
  severity: Severity | null
  cvss_version: string | null
  cvss_score: number | null
  cvss_vector: string | null
}

/**
 * The rating of each vulnerability by its canonical id: that of the advisory which `intel` shows,
 * from all records of the group.
 */
export async function listGroupRatings(
  db: Db,
  groups: readonly { canonical_id: string; ids: readonly string[] }[],
): Promise<Map<string, GroupRating>> {
  const rows = await db<(GroupRating & { canonical_id: string })[]>`
    select known.canonical_id, advisory.severity, advisory.cvss_version, advisory.cvss_score, advisory.cvss_vector
    from json_to_recordset(${JSON.stringify(groups)}::text::json) as known (canonical_id text, ids text[])
    left join ${buildAdvisory(db)} advisory on true
    order by known.canonical_id`
  return new Map(rows.map(({ canonical_id, ...rating }) => [canonical_id, rating]))
}

/**
 * The rating with the newest version of CVSS; the advisory's if the report's has the same version.
 */
function cvssJson(db: Db, subject: ReturnType<Db>) {
  return db`
    case
      when advisory.cvss_version >= coalesce(${subject}.cvss_version, '')
      then json_build_object(
        'version', advisory.cvss_version, 'score', advisory.cvss_score, 'vector', advisory.cvss_vector
      )
      else ${reportedCvss(db, subject)}
    end`
}

function reportedCvss(db: Db, subject: ReturnType<Db>) {
  return db`
    case
      when ${subject}.cvss_vector is not null or ${subject}.cvss_score is not null
      then json_build_object(
        'version', ${subject}.cvss_version, 'score', ${subject}.cvss_score, 'vector', ${subject}.cvss_vector
      )
    end`
}

/**
 * True if the report names a fixed version, or an advisory lists one that is not older than the
 * package.
 */
function isFixAvailable(db: Db, subject: ReturnType<Db>) {
  return db`(
    ${subject}.fixed_version is not null
    or exists (
      select from intel_fixes fix
      where fix.advisory_id = any(known.ids)
        and fix.name = ${buildPackageKey(db, db`${subject}.package_name`)}
        and fix.type = coalesce(${buildPackageType(db, db`${subject}.purl`)}, fix.type)
        and (fix.fixes_all or coalesce(fix.latest_fix >= ${buildRelease(db, db`${subject}.package_version`)}, true))
    )
  )`
}

/** A subquery without outer references, so PostgreSQL runs it once per statement. */
function sourceDate(db: Db, source: ReturnType<Db>) {
  return db`(select ${buildAsOfDate(db)} from intel_sources where source = ${source})`
}

/**
 * Whether issues are in the KEV catalog, and their highest EPSS score, null if there is none.
 * `issues` is a query for `org_id`, `issue_id` and `vuln_ids`. All ids count, with their aliases,
 * as in `buildIntel`.
 */
export function buildThreats(db: Db, issues: ReturnType<Db>) {
  return db`(
    select named.org_id, named.issue_id, bool_or(kev.cve_id is not null) as kev, max(epss.score) as epss
    from (
      select org_id, issue_id, regexp_replace(vuln_id, ${DISTRIBUTION_CVE}, '\\1') as id
      from (${issues}) issue
      cross join unnest(issue.vuln_ids) vuln_id
    ) named
    left join vulnerability_aliases own on own.id = named.id
    left join vulnerability_aliases member on member.canonical_id = own.canonical_id
    left join intel_kev kev on kev.cve_id = coalesce(member.id, named.id)
    left join intel_epss epss on epss.cve_id = coalesce(member.id, named.id)
    group by named.org_id, named.issue_id
  )`
}

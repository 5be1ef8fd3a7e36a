import type { Db, Tx } from '../../../platform/db/sql.ts'
import { intelJson } from './intel.store.ts'

/**
 * What was known of `finding` when it was first seen, where that is what its report says and still does. It is stored when
 * either changes, as most findings never do.
 */
export function asReported(db: Db) {
  return db`
    jsonb_build_object(
      'at', rfc3339(finding.first_seen_at), 'severity', finding.severity, 'scanner_score', finding.scanner_score,
      'cvss', case
        when finding.cvss_vector is not null or finding.cvss_score is not null
        then jsonb_build_object(
          'version', finding.cvss_version, 'score', finding.cvss_score, 'vector', finding.cvss_vector
        )
      end,
      'epss', null, 'kev', null, 'fix_available', finding.fixed_version is not null, 'backfilled', false
    )`
}

/**
 * Looks up what is known of the vulnerabilities that the report's new findings name, once for all that name the same in the same
 * version of a package, and leaves it in the temporary table `detected`. It is empty where nothing is known.
 */
export async function lookUpDetected(tx: Tx): Promise<void> {
  await tx`
    create temporary table detected on commit drop as
    with named as materialized (
      select position,
        row(
          vuln_ids, package_name, package_version, purl, fixed_version, cvss_version, cvss_score, cvss_vector
        )::text as subject,
        vuln_ids, package_name, package_version, purl, fixed_version, cvss_version, cvss_score, cvss_vector
      from paired
      join incoming using (position)
      where paired.finding_id is null
        and vuln_ids <> '{}'
        and exists (select from intel_sources where imported_at is not null)
    ),
    known as materialized (
      select subject, ${intelJson(tx, tx`named`)}::jsonb as intel
      from (select distinct on (subject) * from named) named
    )
    select named.position, known.intel
    from named
    join known using (subject)
    where ${saysSomething(tx, tx`known.intel`)}`
}

/** What is stored of a new finding of `incoming`: null where nothing is known but what it says itself. */
export function detectedIntel(tx: Tx, at: Date) {
  return tx`
    case
      when detected.intel is not null
      then ${frozen(tx, { intel: tx`detected.intel`, row: tx`incoming`, at: tx`${at}::timestamptz`, backfilled: false })}
    end`
}

type Frozen = { intel: ReturnType<Db>; row: ReturnType<Db>; at: ReturnType<Db>; backfilled: boolean }

/** The specification's `intel_at_detection`. A vulnerability was in the catalogue only from the day on that it was added. */
function frozen(db: Db, { intel, row, at, backfilled }: Frozen) {
  return db`
    jsonb_build_object(
      'at', rfc3339(${at}), 'severity', ${row}.severity, 'scanner_score', ${row}.scanner_score,
      'cvss', ${intel} -> 'cvss', 'epss', ${intel} -> 'epss', 'kev', ${kevAt(db, intel, at)},
      'fix_available', ${intel} -> 'fix_available', 'backfilled', ${backfilled}::boolean
    )`
}

/** The catalogue's word on the vulnerability as of `at`. */
export function kevAt(db: Db, intel: ReturnType<Db>, at: ReturnType<Db>): ReturnType<Db> {
  return db`
    case
      when (${intel} -> 'kev' ->> 'date_added')::date <= ${at}
      then jsonb_build_object('date_added', ${intel} -> 'kev' -> 'date_added')
    end`
}

function saysSomething(db: Db, intel: ReturnType<Db>) {
  return db`(
    ${intel} -> 'kev' <> 'null'
    or ${intel} -> 'epss' <> 'null'
    or ${intel} -> 'as_of' -> 'advisory' <> 'null'
  )`
}

import type { Db, Tx } from '../../../platform/db/sql.ts'
import { intelJson } from './intel.store.ts'

/**
 * The `intel_at_detection` of a `finding` for which none is stored: the values of its report. Most findings
 * need no other, so it is stored only once there is more to tell or the report's values change.
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
 * Looks up the intelligence about the report's new findings and stores it in the temporary table `detected`.
 * Findings with the same vulnerability and package version share one lookup. Findings without intelligence
 * are left out.
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
    where ${isKnown(tx, tx`known.intel`)}`
}

/** The `intel_at_detection` to store for a new finding; null if only its report says something. */
export function detectedIntel(tx: Tx, at: Date) {
  return tx`
    case
      when detected.intel is not null
      then ${frozen(tx, { intel: tx`detected.intel`, row: tx`incoming`, at: tx`${at}::timestamptz`, backfilled: false })}
    end`
}

type Frozen = { intel: ReturnType<Db>; row: ReturnType<Db>; at: ReturnType<Db>; backfilled: boolean }

/** The specification's `intel_at_detection`. */
function frozen(db: Db, { intel, row, at, backfilled }: Frozen) {
  return db`
    jsonb_build_object(
      'at', rfc3339(${at}), 'severity', ${row}.severity, 'scanner_score', ${row}.scanner_score,
      'cvss', ${intel} -> 'cvss', 'epss', ${intel} -> 'epss', 'kev', ${kevAt(db, intel, at)},
      'fix_available', ${intel} -> 'fix_available', 'backfilled', ${backfilled}::boolean
    )`
}

/** The KEV entry, or null if it was added to the catalog after `at`. */
export function kevAt(db: Db, intel: ReturnType<Db>, at: ReturnType<Db>): ReturnType<Db> {
  return db`
    case
      when (${intel} -> 'kev' ->> 'date_added')::date <= ${at}
      then jsonb_build_object('date_added', ${intel} -> 'kev' -> 'date_added')
    end`
}

function isKnown(db: Db, intel: ReturnType<Db>) {
  return db`(
    ${intel} -> 'kev' <> 'null'
    or ${intel} -> 'epss' <> 'null'
    or ${intel} -> 'as_of' -> 'advisory' <> 'null'
  )`
}

import type { Db } from '../../../platform/db/sql.ts'

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

/** The KEV entry of the intelligence, or null if it was added to the catalog after `at`. */
export function kevAt(db: Db, intel: ReturnType<Db>, at: ReturnType<Db>): ReturnType<Db> {
  return db`
    case
      when (${intel} -> 'kev' ->> 'date_added')::date <= ${at}
      then jsonb_build_object('date_added', ${intel} -> 'kev' -> 'date_added')
    end`
}

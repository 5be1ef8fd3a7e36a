import type { Db } from '../../../platform/db/sql.ts'

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

/** The catalogue's word on the vulnerability as of `at`. */
export function kevAt(db: Db, intel: ReturnType<Db>, at: ReturnType<Db>): ReturnType<Db> {
  return db`
    case
      when (${intel} -> 'kev' ->> 'date_added')::date <= ${at}
      then jsonb_build_object('date_added', ${intel} -> 'kev' -> 'date_added')
    end`
}

import type { Db, Tx } from '../../platform/db/sql.ts'
import { buildIntel } from '../intel/intel.store.ts'
import { buildKevAt } from '../intel/intel-at-detection.store.ts'
import type { After } from './incoming.store.ts'
import type { Paired } from './paired.store.ts'

/**
 * The temporary table `detected`: the intel of new findings by their position. Findings without
 * intel have no row.
 */
type Detected = After<'detect'> & { readonly tx: Tx; readonly at: Date }

/**
 * Looks up what is known of the vulnerabilities of new findings. Findings with the same
 * vulnerabilities in the same version of a package are looked up once.
 */
export async function insertDetected({ tx, scope }: Paired): Promise<Detected> {
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
      select subject, ${buildIntel(tx, tx`named`)}::jsonb as intel
      from (select distinct on (subject) * from named) named
    )
    select named.position, known.intel
    from named
    join known using (subject)
    where ${hasIntel(tx, tx`known.intel`)}`
  return { tx, at: scope.at } as Detected
}

function hasIntel(db: Db, intel: ReturnType<Db>) {
  return db`(
    ${intel} -> 'kev' <> 'null'
    or ${intel} -> 'epss' <> 'null'
    or ${intel} -> 'as_of' -> 'advisory' <> 'null'
  )`
}

/**
 * The specification's `intel_at_detection` of a row of `incoming` joined with `detected`, or null
 * if nothing is known but what the report itself states. A KEV entry counts from the day it was
 * added. What is known today about an alert that the host detected on an earlier day is backfilled.
 */
export function buildDetectedIntel({ tx, at }: Detected) {
  const intel: ReturnType<Tx> = tx`detected.intel`
  const time: ReturnType<Tx> = tx`coalesce(incoming.first_seen_at, ${at}::timestamptz)`
  return tx`
    case
      when ${intel} is not null
      then jsonb_build_object(
        'at', rfc3339(${time}), 'severity', incoming.severity, 'scanner_score', incoming.scanner_score,
        'cvss', ${intel} -> 'cvss', 'epss', ${intel} -> 'epss', 'kev', ${buildKevAt(tx, intel, time)},
        'fix_available', ${intel} -> 'fix_available', 'backfilled', ${time}::date < ${at}::timestamptz::date
      )
    end`
}

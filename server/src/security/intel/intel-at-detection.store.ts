import { buildSpreadCondition, runAcrossOrganizations } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import { buildIntel } from './intel.store.ts'

/**
 * The `intel_at_detection` of a `finding` for which none is stored: the values of its report. Most
 * findings need no other, so it is stored only once there is more to tell or the report's values
 * change.
 */
export function buildReportedIntel(db: Db) {
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

/** The same by a function that an update may call on several database servers. */
export function buildReportedIntelCall(db: Db) {
  return db`
    reported_intel(
      finding.first_seen_at, finding.severity, finding.scanner_score, finding.cvss_version, finding.cvss_score,
      finding.cvss_vector, finding.fixed_version
    )`
}

/** The KEV entry of the intelligence, or null if it was added to the catalog after `at`. */
export function buildKevAt(db: Db, intel: ReturnType<Db>, at: ReturnType<Db>): ReturnType<Db> {
  return db`
    case
      when (${intel} -> 'kev' ->> 'date_added')::date <= ${at}
      then jsonb_build_object('date_added', ${intel} -> 'kev' -> 'date_added')
    end`
}

/** The position of a finding in the order of a backfill. */
type Position = { org_id: string; id: string }

const START: Position = {
  org_id: '00000000-0000-0000-0000-000000000000',
  id: '00000000-0000-0000-0000-000000000000',
}

/**
 * Adds intelligence to the `intel_at_detection` of findings that were detected before it was known.
 */
export async function updateIntelAtDetection({ sql }: Pick<Services, 'sql'>): Promise<void> {
  await runAcrossOrganizations(sql, sql`findings`, async (orgId) => {
    let position: Position | null = START
    while (position !== null) position = await backfillNext(sql, position, orgId)
    return []
  })
}

const FINDINGS_AT_ONCE = 10_000

/**
 * Fills unknown values in the next findings and sets `backfilled`. Known values stay. Findings that
 * another transaction is changing are skipped until the next import. Returns null at the end.
 */
async function backfillNext(db: Db, after: Position, orgId: string | null): Promise<Position | null> {
  const [last] = await db<Position[]>`
    with batch as (
      select org_id, id
      from findings
      where (org_id, id) > (${after.org_id}, ${after.id}) ${buildSpreadCondition(db, 'findings', orgId)}
      order by org_id, id
      limit ${FINDINGS_AT_ONCE}
    ),
    incomplete as (
      select finding.*
      from batch
      join findings finding using (org_id, id)
      where finding.vuln_ids <> '{}' ${buildSpreadCondition(db, 'finding', orgId)}
        and (
          finding.intel_at_detection is null
          or finding.intel_at_detection -> 'epss' = 'null'
          or finding.intel_at_detection -> 'kev' = 'null'
          or finding.intel_at_detection -> 'cvss' = 'null'
        )
      for no key update of finding skip locked
    ),
    known as (
      select org_id, id, coalesce(intel_at_detection, ${buildReportedIntel(db)}) as before, first_seen_at,
        ${buildIntel(db, db`finding`)}::jsonb as intel
      from incomplete finding
    ),
    filled as (
      select org_id, id, before,
        before
          || ${whereUnknown(db, db`'epss'`, db`intel -> 'epss'`)}
          || ${whereUnknown(db, db`'cvss'`, db`intel -> 'cvss'`)}
          || ${whereUnknown(db, db`'kev'`, buildKevAt(db, db`intel`, db`first_seen_at`))} as after
      from known
    ),
    backfilled as (
      update findings finding
      set intel_at_detection = filled.after || '{"backfilled": true}'
      from filled
      where finding.org_id = filled.org_id
        and finding.id = filled.id
        and filled.after <> filled.before ${buildSpreadCondition(db, 'finding', orgId)}
    )
    select org_id, id
    from batch
    order by org_id desc, id desc
    limit 1`
  return last ?? null
}

function whereUnknown(db: Db, member: ReturnType<Db>, now: ReturnType<Db>) {
  return db`
    case
      when before -> ${member} = 'null' and (${now}) <> 'null'
      then jsonb_build_object(${member}, ${now})
      else '{}'
    end`
}

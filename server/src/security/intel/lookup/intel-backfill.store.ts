import type { Db } from '../../../platform/db/sql.ts'
import type { Services } from '../../../services.ts'
import { intelJson } from './intel.store.ts'
import { asReported, kevAt } from './intel-at-detection.store.ts'

/** The position of a finding in the order of a backfill. */
type Position = { org_id: string; id: string }

const START: Position = {
  org_id: '00000000-0000-0000-0000-000000000000',
  id: '00000000-0000-0000-0000-000000000000',
}

/** Adds intelligence to the `intel_at_detection` of findings that were detected before it was known. */
export async function backfillDetection({ sql }: Pick<Services, 'sql'>): Promise<void> {
  let position: Position | null = START
  while (position !== null) position = await backfillNext(sql, position)
}

const FINDINGS_AT_ONCE = 10_000

/**
 * Fills unknown values in the next findings and sets `backfilled`. Known values stay. Findings that another
 * transaction is changing are skipped until the next import. Returns null at the end.
 */
async function backfillNext(db: Db, after: Position): Promise<Position | null> {
  const [last] = await db<Position[]>`
    with batch as (
      select org_id, id
      from findings
      where (org_id, id) > (${after.org_id}, ${after.id})
      order by org_id, id
      limit ${FINDINGS_AT_ONCE}
    ),
    incomplete as (
      select finding.*
      from batch
      join findings finding using (org_id, id)
      where finding.vuln_ids <> '{}'
        and (
          finding.intel_at_detection is null
          or finding.intel_at_detection -> 'epss' = 'null'
          or finding.intel_at_detection -> 'kev' = 'null'
          or finding.intel_at_detection -> 'cvss' = 'null'
        )
      for no key update of finding skip locked
    ),
    known as (
      select org_id, id, coalesce(intel_at_detection, ${asReported(db)}) as before, first_seen_at,
        ${intelJson(db, db`finding`)}::jsonb as intel
      from incomplete finding
    ),
    filled as (
      select org_id, id, before,
        before
          || ${whereUnknown(db, db`'epss'`, db`intel -> 'epss'`)}
          || ${whereUnknown(db, db`'cvss'`, db`intel -> 'cvss'`)}
          || ${whereUnknown(db, db`'kev'`, kevAt(db, db`intel`, db`first_seen_at`))} as after
      from known
    ),
    backfilled as (
      update findings finding
      set intel_at_detection = filled.after || '{"backfilled": true}'
      from filled
      where finding.org_id = filled.org_id
        and finding.id = filled.id
        and filled.after <> filled.before
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

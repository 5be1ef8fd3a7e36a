import type { Db } from '../../../platform/db/sql.ts'
import { intelJson } from './intel.store.ts'
import { asReported, kevAt } from './intel-at-detection.store.ts'

/** The last finding that was looked at. */
export type BackfillPlace = { org_id: string; id: string }

const LOOKED_AT_ONCE = 10_000

/**
 * Adds to the next findings after a place what was not known when they were first seen, and says so in `backfilled`. What was
 * known stays as it was. Findings that are being changed wait for the next time. Null at the end.
 */
export async function backfillNext(db: Db, after: BackfillPlace): Promise<BackfillPlace | null> {
  const [last] = await db<BackfillPlace[]>`
    with batch as (
      select org_id, id
      from findings
      where (org_id, id) > (${after.org_id}, ${after.id})
      order by org_id, id
      limit ${LOOKED_AT_ONCE}
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

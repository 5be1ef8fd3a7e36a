import { type Copy, openCopy } from '../../../platform/db/copy-rows.ts'
import type { Tx } from '../../../platform/db/sql.ts'
import { packageKey, releaseOf } from './package-match.store.ts'

/** Columns of the temporary table that OSV records are copied into. */
export const ADVISORY_COLUMNS = [
  'id',
  'modified',
  'content_hash',
  'withdrawn',
  'severity',
  'cvss_version',
  'cvss_score',
  'cvss_vector',
  'aliases',
  'fixes',
] as const

/** Opens the temporary table that OSV records are copied into. It ends with the transaction. */
export async function copyAdvisories(tx: Tx): Promise<Copy> {
  await tx`
    create temporary table incoming_advisories (
      id text collate "C", modified timestamptz(3), content_hash bytea, withdrawn boolean, severity text,
      cvss_version text, cvss_score real, cvss_vector text, aliases text[], fixes jsonb
    ) on commit drop`
  return openCopy(tx, 'incoming_advisories', ADVISORY_COLUMNS)
}

export type AdvisoryCounts = { added: number; changed: number; stored: number; newest: Date | null }

/**
 * Stores the copied records that are new, or as new as the stored ones and different, and what they say is fixed. They
 * stand in `changed_advisories` until the transaction ends.
 */
export async function mergeAdvisories(tx: Tx): Promise<AdvisoryCounts> {
  await selectChanged(tx)
  await writeAdvisories(tx)
  await replaceFixes(tx)
  const [counts] = await tx<[AdvisoryCounts]>`
    select count(*) filter (where is_new) as added, count(*) filter (where not is_new) as changed,
      (select count(*) from intel_advisories) as stored, max(modified) as newest
    from changed_advisories`
  return counts
}

/** Of several copies of one record the newest counts. */
async function selectChanged(tx: Tx): Promise<void> {
  await tx`analyze incoming_advisories`
  await tx`
    create temporary table changed_advisories on commit drop as
    select distinct on (incoming.id) incoming.*, stored.id is null as is_new
    from incoming_advisories incoming
    left join intel_advisories stored on stored.id = incoming.id
    where stored.id is null
      or (incoming.modified >= stored.modified and incoming.content_hash <> stored.content_hash)
    order by incoming.id, incoming.modified desc, incoming.content_hash`
  await tx`analyze changed_advisories`
}

async function writeAdvisories(tx: Tx): Promise<void> {
  await tx`
    insert into intel_advisories (
      id, modified, content_hash, withdrawn, severity, cvss_version, cvss_score, cvss_vector
    )
    select id, modified, content_hash, withdrawn, severity, cvss_version, cvss_score, cvss_vector
    from changed_advisories
    on conflict (id) do update
    set modified = excluded.modified, content_hash = excluded.content_hash, withdrawn = excluded.withdrawn,
      severity = excluded.severity, cvss_version = excluded.cvss_version, cvss_score = excluded.cvss_score,
      cvss_vector = excluded.cvss_vector`
}

/** Two spellings of one package are one, and fixed where both are. */
async function replaceFixes(tx: Tx): Promise<void> {
  await tx`
    delete from intel_fixes fix
    using changed_advisories changed
    where fix.advisory_id = changed.id`
  await tx`
    insert into intel_fixes (advisory_id, type, name, fixes_all, latest_fix)
    select changed.id, fix.type, ${packageKey(tx, tx`fix.name`)}, bool_and(fix.fixes_all),
      max((select max(${releaseOf(tx, tx`version`)}) from unnest(fix.fixed) version))
    from changed_advisories changed
    cross join jsonb_to_recordset(changed.fixes) as fix (type text, name text, fixes_all boolean, fixed text[])
    group by changed.id, fix.type, ${packageKey(tx, tx`fix.name`)}`
}

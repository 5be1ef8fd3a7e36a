import { buildUnnestedRows } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { type Copy, openCopy, writeCopy } from '../../platform/db/table-copy.ts'
import { upsertAffected } from './affected.store.ts'
import type { ChangedAdvisories } from './alias.store.ts'

/** The columns of `incoming_advisories`. */
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
  'upstream',
  'affected',
] as const

/**
 * The temporary table `incoming_advisories` contains all OSV records of an import. It ends with the
 * transaction.
 */
type IncomingAdvisories = { tx: Tx; holds: 'incoming advisories' }

export async function copyAdvisories(tx: Tx, fill: (copy: Copy) => Promise<void>): Promise<IncomingAdvisories> {
  await tx`
    create temporary table incoming_advisories (
      id text collate "C", modified timestamptz(3), content_hash bytea, withdrawn boolean, severity text,
      cvss_version text, cvss_score real, cvss_vector text, aliases text[], fixes jsonb,
      upstream text[], affected json
    ) on commit drop`
  await writeCopy(await openCopy(tx, 'incoming_advisories', ADVISORY_COLUMNS), fill)
  return { tx, holds: 'incoming advisories' }
}

type AdvisoryCounts = { added: number; changed: number; stored: number; newest: Date | null }

/**
 * Stores the incoming records, their packages and their fixes. Records that are older than the
 * stored ones, or equal to them, are skipped.
 */
export async function upsertAdvisories({
  tx,
}: IncomingAdvisories): Promise<{ changed: ChangedAdvisories; counts: AdvisoryCounts }> {
  const changed = await selectChanged(tx)
  await upsertChanged(changed)
  await replaceFixes(changed)
  await upsertAffected(tx)
  const [counts] = await tx<[AdvisoryCounts]>`
    select count(*) filter (where is_new) as added, count(*) filter (where not is_new) as changed,
      (select count(*) from intel_advisories) as stored, max(modified) as newest
    from changed_advisories`
  return { changed, counts }
}

/** If the files contain several copies of a record, the newest counts. */
async function selectChanged(tx: Tx): Promise<ChangedAdvisories> {
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
  return { tx, holds: 'changed advisories' }
}

async function upsertChanged({ tx }: ChangedAdvisories): Promise<void> {
  await tx`
    insert into intel_advisories (
      id, modified, content_hash, withdrawn, severity, cvss_version, cvss_score, cvss_vector, upstream
    )
    select id, modified, content_hash, withdrawn, severity, cvss_version, cvss_score, cvss_vector, upstream
    from changed_advisories
    on conflict (id) do update
    set modified = excluded.modified, content_hash = excluded.content_hash, withdrawn = excluded.withdrawn,
      severity = excluded.severity, cvss_version = excluded.cvss_version, cvss_score = excluded.cvss_score,
      cvss_vector = excluded.cvss_vector, upstream = excluded.upstream`
}

/** Two spellings of a package's name are one package, which is fixed only if both entries are. */
async function replaceFixes({ tx }: ChangedAdvisories): Promise<void> {
  const changed = await buildUnnestedRows(tx, 'changed_advisories', 'changed', ['id'])
  await tx`
    delete from intel_fixes fix
    using ${changed()}
    where fix.advisory_id = changed.id`
  await tx`
    insert into intel_fixes (advisory_id, type, name, fixes_all, latest_fix)
    select changed.id, fix.type, ${buildPackageKey(tx, tx`fix.name`)}, bool_and(fix.fixes_all),
      max((select max(${buildRelease(tx, tx`version`)}) from unnest(fix.fixed) version))
    from changed_advisories changed
    cross join jsonb_to_recordset(changed.fixes) as fix (type text, name text, fixes_all boolean, fixed text[])
    group by changed.id, fix.type, ${buildPackageKey(tx, tx`fix.name`)}`
}

/**
 * A package's name in the form that its spellings share: `Foo_Bar` on PyPI becomes `foo-bar`, and
 * Maven's `group:artifact` becomes `group/artifact`. Names are compared within one vulnerability
 * only, so the rule may be generous.
 */
export function buildPackageKey(db: Db, name: ReturnType<Db>) {
  return db`lower(translate(${name}, '_.:', '--/'))`
}

/** The type in a package URL. */
export function buildPackageType(db: Db, purl: ReturnType<Db>) {
  return db`lower(substring(${purl} from '^pkg:/{0,2}([A-Za-z0-9.+-]+)/'))`
}

/**
 * The leading numbers of a version: 1, 10, 2 for `v1.10.2-rc.1`. All ecosystems order this part
 * alike. Null for a version in another form, such as one with an epoch. The expression is simple
 * because it runs for every version of an import.
 */
export function buildRelease(db: Db, version: ReturnType<Db>) {
  return db`
    case
      when position(':' in ${version}) = 0 and position('!' in ${version}) = 0
      then string_to_array(substring(${version} from '^v?([0-9]+(?:\\.[0-9]+)*)'), '.')::numeric[]
    end`
}

import { buildUnnestedRows } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { copyAll, openCopy } from '../../platform/db/table-copy.ts'
import { lockIntelTable } from './intel-source.store.ts'

/**
 * The temporary table `changed_advisories` contains the OSV records that an import added or
 * changed.
 */
export type ChangedAdvisories = { tx: Tx; holds: 'changed advisories' }

/**
 * The temporary table `touched_ids` contains the ids in assertions that were added or withdrawn.
 */
type TouchedIds = { tx: Tx; holds: 'touched ids' }

/** `touched_ids` contains all ids of the groups, stored or new, that contain a touched id. */
type TouchedGroups = { tx: Tx; holds: 'touched groups' }

/**
 * Stores the aliases that the changed OSV records assert, and deletes those that they no longer
 * assert.
 */
export async function upsertAssertions({ tx }: ChangedAdvisories): Promise<TouchedIds> {
  await tx`create temporary table touched_ids (id text collate "C") on commit drop`
  const changed = await buildUnnestedRows(tx, 'changed_advisories', 'changed', ['id', 'aliases'])
  await tx`
    with asserted as (
      select id, alias
      from ${changed()}
      cross join unnest(aliases) alias
    ), withdrawn as (
      delete from vulnerability_assertions stored
      using ${changed()}
      where stored.source = 'osv'
        and stored.id = changed.id
        and not exists (select from asserted where asserted.id = stored.id and asserted.alias = stored.alias)
      returning stored.id, stored.alias
    ), added as (
      insert into vulnerability_assertions (source, id, alias)
      select 'osv', id, alias
      from asserted
      on conflict do nothing
      returning id, alias
    ), pairs as (
      select id, alias from withdrawn
      union all
      select id, alias from added
    )
    insert into touched_ids (id)
    select id from pairs
    union
    select alias from pairs`
  return { tx, holds: 'touched ids' }
}

/**
 * Adds to `touched_ids` all ids of their stored groups. No assertion leads out of the result: an
 * older one is within a stored group, and both ids of a new one are touched.
 */
export async function insertTouchedGroups({ tx }: TouchedIds): Promise<TouchedGroups> {
  await tx`analyze touched_ids`
  await tx`
    insert into touched_ids (id)
    select member.id
    from (
      select distinct own.canonical_id
      from touched_ids touched
      join vulnerability_aliases own on own.id = touched.id
    ) touched_group
    join vulnerability_aliases member on member.canonical_id = touched_group.canonical_id
    except
    select id from touched_ids`
  await tx`analyze touched_ids`
  return { tx, holds: 'touched groups' }
}

type Assertion = { id: string; alias: string }

const ASSERTIONS_AT_ONCE = 20_000

/** Reads the assertions about the touched ids, from every source. */
export function listAssertions({ tx }: TouchedGroups): AsyncIterable<Assertion[]> {
  return tx<Assertion[]>`
    select distinct id, alias
    from vulnerability_assertions
    where id in (select id from touched_ids)`.cursor(ASSERTIONS_AT_ONCE)
}

/**
 * Replaces the stored groups of the touched ids with these, and records the touched ids as changes
 * from OSV. Ids that stay in their group are not written.
 */
export async function upsertGroups(
  { tx }: TouchedGroups,
  groups: Iterable<[id: string, canonicalId: string]>,
): Promise<void> {
  await tx`
    create temporary table incoming_aliases (id text collate "C", canonical_id text collate "C") on commit drop`
  await copyAll(await openCopy(tx, 'incoming_aliases', ['id', 'canonical_id']), groups)
  await tx`analyze incoming_aliases`
  await lockIntelTable(tx, 'vulnerability_aliases')
  const touched = await buildUnnestedRows(tx, 'touched_ids', 'touched', ['id'])
  const incoming = await buildUnnestedRows(tx, 'incoming_aliases', 'incoming', ['id', 'canonical_id'])
  await tx`
    delete from vulnerability_aliases stored
    using ${touched()}
    where stored.id = touched.id
      and not exists (select from ${incoming()} where incoming.id = stored.id)`
  await tx`
    insert into vulnerability_aliases (id, canonical_id)
    select id, canonical_id
    from incoming_aliases
    on conflict (id) do update
    set canonical_id = excluded.canonical_id
    where vulnerability_aliases.canonical_id <> excluded.canonical_id`
  await tx`
    insert into vulnerability_alias_changes (source, id)
    select 'osv', id
    from touched_ids
    on conflict do nothing`
}

/**
 * A statement that deletes all recorded changes of groups and returns `source` and `id` of each.
 */
export function deleteAliasChanges(db: Db) {
  return db`
    delete from vulnerability_alias_changes
    returning source, id`
}

/** Returns all ids of the vulnerability with this id, if it has aliases. */
export async function listAliases(db: Db, id: string): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select member.id
    from vulnerability_aliases own
    join vulnerability_aliases member on member.canonical_id = own.canonical_id
    where own.id = ${id}`
  return rows.map((row) => row.id)
}

type AliasCounts = { ids: number; groups: number }

/** Counts the ids that have an alias, and the vulnerabilities that they identify. */
export async function countAliases(db: Db): Promise<AliasCounts> {
  const [counts] = await db<[AliasCounts]>`
    select count(*) as ids, count(*) filter (where id = canonical_id) as groups
    from vulnerability_aliases`
  return counts
}

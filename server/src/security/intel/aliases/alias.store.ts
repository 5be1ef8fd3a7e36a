import { type Copy, openCopy } from '../../../platform/db/copy-rows.ts'
import type { Db, Tx } from '../../../platform/db/sql.ts'

/**
 * Makes what OSV's `changed_advisories` say of aliases what stands in the assertions: what they no longer say is withdrawn.
 * The ids that this is about are left in `touched_ids` until the transaction ends.
 */
export async function replaceAssertions(tx: Tx): Promise<void> {
  await tx`create temporary table touched_ids (id text collate "C") on commit drop`
  await tx`
    with said as (
      select id, alias
      from changed_advisories
      cross join unnest(aliases) alias
    ), withdrawn as (
      delete from vulnerability_assertions stored
      using changed_advisories changed
      where stored.source = 'osv'
        and stored.id = changed.id
        and not exists (select from said where said.id = stored.id and said.alias = stored.alias)
      returning stored.id, stored.alias
    ), added as (
      insert into vulnerability_assertions (source, id, alias)
      select 'osv', id, alias
      from said
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
}

/**
 * Widens `touched_ids` to their whole groups. No assertion leads out of them: one that was there before is within its
 * group, and a new one touched both its ends.
 */
export async function touchWholeGroups(tx: Tx): Promise<void> {
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
}

export type Assertion = { id: string; alias: string }

const ASSERTIONS_AT_ONCE = 20_000

/** What is said of the touched ids, whoever says it. */
export function readAssertions(tx: Tx): AsyncIterable<Assertion[]> {
  return tx<Assertion[]>`
    select distinct id, alias
    from vulnerability_assertions
    where id in (select id from touched_ids)`.cursor(ASSERTIONS_AT_ONCE)
}

/** Opens the temporary table that the touched groups are copied into. It ends with the transaction. */
export async function copyAliases(tx: Tx): Promise<Copy> {
  await tx`
    create temporary table incoming_aliases (id text collate "C", canonical_id text collate "C") on commit drop`
  return openCopy(tx, 'incoming_aliases', ['id', 'canonical_id'])
}

/** Makes the stored groups of the touched ids the copied ones. Ids that stay where they are are not written. */
export async function mergeAliases(tx: Tx): Promise<void> {
  await tx`analyze incoming_aliases`
  await tx`
    delete from vulnerability_aliases stored
    using touched_ids touched
    where stored.id = touched.id
      and not exists (select from incoming_aliases incoming where incoming.id = stored.id)`
  await tx`
    insert into vulnerability_aliases (id, canonical_id)
    select id, canonical_id
    from incoming_aliases
    on conflict (id) do update
    set canonical_id = excluded.canonical_id
    where vulnerability_aliases.canonical_id <> excluded.canonical_id`
}

export type AliasCounts = { ids: number; groups: number }

/** How many ids are known to be one of several of a vulnerability, and of how many vulnerabilities. */
export async function countAliases(db: Db): Promise<AliasCounts> {
  const [counts] = await db<[AliasCounts]>`
    select count(*) as ids, count(*) filter (where id = canonical_id) as groups
    from vulnerability_aliases`
  return counts
}

import { buildSpreadCondition, isSpread } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { type Anchor, buildChainCondition } from './chain.store.ts'
import type { ChainKey, Link } from './link.ts'
import type { ChangeRow } from './stated-change.ts'

/** A link with the rows that belong to it. */
export type LinkRow = Link & {
  mac: Buffer
  /**
   * What authenticates the link's entry in the transparency log: null without an entry, and empty
   * in rows of earlier versions.
   */
  entry_mac: Buffer | null
  change: ChangeRow | null
}

/** The links from index `from` up to, but not including, `to`. */
export async function listLinks(db: Db, chain: ChainKey, from: number, to: number): Promise<LinkRow[]> {
  const links = await db<LinkRow[]>`
    select link.index, link.kind, link.change_id, link.at, link.previous_hash, link.hash, link.body, link.tombstone,
      link.mac,
      ${isSpread() ? db`null` : selectEntryMac(db)} as entry_mac,
      case when change.id is not null then json_build_object(
        'id', change.id, 'provider', change.provider, 'repository_id', change.repository_id, 'branch', change.branch,
        'landed_by', change.landed_by, 'pull_request', change.pull_request, 'merge_sha', change.merge_sha,
        'link_index', change.link_index, 'last_index', change.last_index, 'deviations', change.deviations,
        'created_at', change.created_at, 'recorded_at', change.recorded_at, 'last_change_id', last.change_id,
        'commits_sha256', case link.kind when 'record' then (
          select encode(sha256(convert_to(coalesce(string_agg(line, E'\\n' order by line collate "C"), ''), 'UTF8')), 'hex')
          from (
            select provider || ' ' || repository_id || ' ' || sha as line
            from change_commits
            where org_id = link.org_id ${buildSpreadCondition(db, 'change_commits', chain.org_id)}
              and change_id = link.change_id
          ) listed
        ) end,
        'amendments', case link.kind when 'record' then (
          select json_agg(json_build_object('body', amendment.body, 'tombstone', amendment.tombstone))
          from chain_links amendment
          where amendment.org_id = link.org_id ${buildSpreadCondition(db, 'amendment', chain.org_id)}
            and amendment.change_id = link.change_id
            and amendment.kind = 'amendment'
        ) end
      ) end as change
    from chain_links link
    left join changes change
      on change.org_id = link.org_id
      and change.id = link.change_id
    left join chain_links last
      on last.org_id = link.org_id
      and last.provider = link.provider
      and last.repository_id = link.repository_id
      and last.index = change.last_index
    where link.org_id = ${chain.org_id}
      and link.provider = ${chain.provider}
      and link.repository_id = ${chain.repository_id}
      and link.index >= ${from}
      and link.index < ${to}
    order by link.index
    limit ${to - from}`
  return isSpread() ? withEntryMacs(db, links) : links
}

function selectEntryMac(db: Db) {
  return db`(
    select coalesce(entry.mac, '')
    from log_entries entry
    where entry.kind = case link.kind when 'record' then 'change' else 'amendment' end
      and entry.sha256 = link.hash
  )`
}

/**
 * The log is on another server than the links. It is read after them: a link and its entry are
 * stored together.
 */
async function withEntryMacs(db: Db, links: readonly LinkRow[]): Promise<LinkRow[]> {
  const given = links.map(({ index, kind, hash }) => ({ index, kind, hash: hash.toString('hex') }))
  const rows = await db<{ index: number; entry_mac: Buffer | null }[]>`
    select index, ${selectEntryMac(db)} as entry_mac
    from (
      select index, kind, decode(hash, 'hex') as hash
      from json_to_recordset(${db.json(given)}::json) as given (index integer, kind text, hash text)
    ) link`
  const macs = new Map(rows.map((row) => [row.index, row.entry_mac]))
  return links.map((link) => ({ ...link, entry_mac: macs.get(link.index) ?? null }))
}

/** The anchors from index `from` up to, but not including, `to`. */
export async function listAnchors(db: Db, chain: ChainKey, from: number, to: number): Promise<Anchor[]> {
  return db<Anchor[]>`
    select index, hash, mac
    from chain_anchors
    where ${buildChainCondition(db, chain)}
      and index >= ${from}
      and index < ${to}
    order by index
    limit ${to - from}`
}

/** The index of the first link from `from` on; null if there is none. */
export async function findNextIndex(db: Db, chain: ChainKey, from: number): Promise<number | null> {
  const [row] = await db<[{ index: number | null }]>`
    select min(index) as index
    from chain_links
    where ${buildChainCondition(db, chain)}
      and index >= ${from}`
  return row.index
}

export async function findHash(db: Db, chain: ChainKey, index: number): Promise<Buffer | null> {
  const [row] = await db<{ hash: Buffer }[]>`
    select hash
    from chain_links
    where ${buildChainCondition(db, chain)}
      and index = ${index}`
  return row?.hash ?? null
}

/** A row that names a link that is missing. */
type Orphan = { part: 'change' | 'anchor'; index: number; name: string }

const ORPHANS_MAX = 1000

/** Changes and anchors of a chain without their link. */
export async function findOrphans(db: Db, chain: ChainKey): Promise<Orphan[]> {
  return db<Orphan[]>`
    select 'change' as part, link_index::int as index, id as name
    from changes
    where ${buildChainCondition(db, chain)}
      and not exists (
        select from chain_links link
        where link.org_id = changes.org_id ${buildSpreadCondition(db, 'link', chain.org_id)}
          and link.provider = changes.provider
          and link.repository_id = changes.repository_id
          and link.index = changes.link_index
          and link.kind = 'record'
          and link.change_id = changes.id
      )
    union all
    select 'anchor' as part, index, encode(hash, 'hex') as name
    from chain_anchors
    where ${buildChainCondition(db, chain)}
      and not exists (
        select from chain_links link
        where link.org_id = chain_anchors.org_id ${buildSpreadCondition(db, 'link', chain.org_id)}
          and link.provider = chain_anchors.provider
          and link.repository_id = chain_anchors.repository_id
          and link.index = chain_anchors.index
      )
    order by part, index
    limit ${ORPHANS_MAX}`
}

/** Hashes in the log, as hexadecimal digits, whose link no chain has: links were deleted. */
export async function findUnlinkedEntries(db: Db): Promise<string[]> {
  // On several servers, the links are fetched to the log.
  const rows = await db<{ hash: string }[]>`
    with linked as ${isSpread() ? db`materialized` : db``} (
      select hash
      from chain_links
    )
    select encode(sha256, 'hex') as hash
    from log_entries
    where kind in ('change', 'amendment')
      and not exists (select from linked where hash = sha256)
    order by id
    limit ${ORPHANS_MAX}`
  return rows.map(({ hash }) => hash)
}

/**
 * The index, from `from` on, of the first link with a body that is older than `since`; null if
 * there is none.
 */
export async function findExpiredIndex(db: Db, chain: ChainKey, from: number, since: Date): Promise<number | null> {
  const [row] = await db<[{ index: number | null }]>`
    select min(link.index) as index
    from chain_links link
    left join changes change
      on change.org_id = link.org_id
      and change.id = link.change_id
    where link.org_id = ${chain.org_id}
      and link.provider = ${chain.provider}
      and link.repository_id = ${chain.repository_id}
      and link.index >= ${from}
      and link.body is not null
      and ${isExpired(db, since)}`
  return row.index
}

/** The number of bodies of an organization that are older than `since`. */
export async function countExpiredBodies(db: Db, orgId: string, since: Date): Promise<number> {
  const [row] = await db<[{ count: number }]>`
    select count(*) as count
    from chain_links link
    left join changes change
      on change.org_id = link.org_id
      and change.id = link.change_id
    where link.org_id = ${orgId}
      and link.body is not null
      and ${isExpired(db, since)}`
  return row.count
}

function isExpired(db: Db, since: Date) {
  return db`case link.kind when 'record' then change.created_at else link.at end < ${since}`
}

/** Replaces the body of a link by a tombstone. */
export async function updateTombstone(
  tx: Tx,
  chain: ChainKey,
  { index, tombstone, mac }: Pick<LinkRow, 'index' | 'tombstone' | 'mac'>,
): Promise<void> {
  await tx`
    update chain_links
    set body = null, tombstone = ${tombstone}, mac = ${mac}
    where ${buildChainCondition(tx, chain)}
      and index = ${index}`
}

import { lockName } from '../../platform/db/advisory-lock.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { formatRepositoryKey } from '../../repositories/repository-identity.ts'
import type { StoredBreak } from './chain-break.ts'
import type { ChainEnd, ChainHead } from './chain-head.ts'
import type { ChainKey, Link } from './link.ts'

/** Selects the rows of a chain. */
export function buildChainCondition(db: Db, { org_id, provider, repository_id }: ChainKey) {
  return db`org_id = ${org_id} and provider = ${provider} and repository_id = ${repository_id}`
}

/** Locks a chain until the transaction ends. */
export async function lockChain(tx: Tx, chain: ChainKey): Promise<void> {
  await lockName(tx, `provenance chain ${formatRepositoryKey(chain)}`)
}

type EndRow = Partial<Omit<NonNullable<ChainEnd['head']>, 'breaks'>> & {
  break_count: number | null
  last_index: number | null
  last_hash: Buffer
} & Omit<StoredBreak, 'sequence' | 'mac'> & { sequence: number | null; break_mac: Buffer }

/** Reads the end of a chain and its breaks in one statement. */
export async function findEnd(db: Db, chain: ChainKey): Promise<ChainEnd> {
  const rows = await db<EndRow[]>`
    select head.length, head.head, head.breaks as break_count, head.verified_length, head.verified_at, head.mac,
      last.index as last_index, last.hash as last_hash,
      break.sequence, break.index, break.part, break.expected, break.found, break.found_at, break.note,
      break.acknowledged_at, break.mac as break_mac
    from (select) as one
    left join (
      select length, head, breaks, verified_length, verified_at, mac
      from provenance_chains
      where ${buildChainCondition(db, chain)}
    ) head on true
    left join (
      select index, hash
      from chain_links
      where ${buildChainCondition(db, chain)}
      order by index desc
      limit 1
    ) last on true
    left join (
      select sequence, index, part, expected, found, found_at, note, acknowledged_at, mac
      from chain_breaks
      where ${buildChainCondition(db, chain)}
    ) break on true
    order by break.sequence`
  return toEnd(rows)
}

function toEnd(rows: EndRow[]): ChainEnd {
  const [first] = rows as [EndRow]
  const { length, head = null, break_count, verified_length = 0, verified_at = null, mac, last_index } = first
  return {
    head:
      break_count === null
        ? null
        : ({ length, head, breaks: break_count, verified_length, verified_at, mac } as ChainEnd['head']),
    last: last_index === null ? null : { index: last_index, hash: first.last_hash },
    breaks: rows.flatMap((row) => (row.sequence === null ? [] : [toBreak(row, row.sequence)])),
  }
}

function toBreak(row: EndRow, sequence: number): StoredBreak {
  const { index, part, expected, found, found_at, note, acknowledged_at, break_mac: mac } = row
  return { sequence, index, part, expected, found, found_at, note, acknowledged_at, mac }
}

export async function upsertHead(tx: Tx, chain: ChainKey, head: ChainHead, mac: Buffer): Promise<void> {
  const { length, head: hash, breaks, verified_length, verified_at } = head
  await tx`
    insert into provenance_chains (
      org_id, provider, repository_id, length, head, breaks, verified_length, verified_at, mac
    )
    values (
      ${chain.org_id}, ${chain.provider}, ${chain.repository_id}, ${length}, ${hash}, ${breaks}, ${verified_length},
      ${verified_at}, ${mac}
    )
    on conflict (org_id, provider, repository_id) do update
    set length = excluded.length,
      head = excluded.head,
      breaks = excluded.breaks,
      verified_length = excluded.verified_length,
      verified_at = excluded.verified_at,
      mac = excluded.mac`
}

export async function insertLink(tx: Tx, chain: ChainKey, link: Link, mac: Buffer): Promise<void> {
  await tx`
    insert into chain_links (
      org_id, provider, repository_id, index, kind, change_id, at, previous_hash, hash, body, tombstone, mac
    )
    values (
      ${chain.org_id}, ${chain.provider}, ${chain.repository_id}, ${link.index}, ${link.kind}, ${link.change_id},
      ${link.at}, ${link.previous_hash}, ${link.hash}, ${link.body}, ${link.tombstone}, ${mac}
    )`
}

/** A hash of a chain that is authenticated by itself. */
export type Anchor = { index: number; hash: Buffer; mac: Buffer }

/** Replaces an anchor at the same index. */
export async function upsertAnchor(tx: Tx, chain: ChainKey, { index, hash, mac }: Anchor): Promise<void> {
  await tx`
    insert into chain_anchors (org_id, provider, repository_id, index, hash, mac)
    values (${chain.org_id}, ${chain.provider}, ${chain.repository_id}, ${index}, ${hash}, ${mac})
    on conflict (org_id, provider, repository_id, index) do update
    set hash = excluded.hash, mac = excluded.mac`
}

/**
 * The chain that follows `after` in the order of keys. Finds chains by any row that belongs to
 * them.
 */
export async function findNextChain(db: Db, orgId: string | null, after: ChainKey | null): Promise<ChainKey | null> {
  const first = (table: string) => db`
    (
      select org_id, provider, repository_id
      from ${db(table)}
      where true
        ${orgId === null ? db`` : db`and org_id = ${orgId}`}
        ${after === null ? db`` : db`and (org_id, provider, repository_id) > (${after.org_id}, ${after.provider}, ${after.repository_id})`}
      order by org_id, provider, repository_id
      limit 1
    )`
  const [row] = await db<ChainKey[]>`
    select org_id, provider, repository_id
    from (
      ${first('provenance_chains')}
      union all ${first('chain_links')}
      union all ${first('chain_anchors')}
      union all ${first('chain_breaks')}
      union all ${first('changes')}
    ) as firsts
    order by org_id, provider, repository_id
    limit 1`
  return row ?? null
}

/** How many links the chains of an organization have, those of all, or one chain. */
export async function countLinks(db: Db, orgId: string | null, chain: ChainKey | null): Promise<number> {
  const [row] = await db<[{ links: number }]>`
    select coalesce(sum(length), 0)::int as links
    from provenance_chains
    where true
      ${orgId === null ? db`` : db`and org_id = ${orgId}`}
      ${chain === null ? db`` : db`and ${buildChainCondition(db, chain)}`}`
  return row.links
}

export async function insertBreak(tx: Tx, chain: ChainKey, row: StoredBreak): Promise<void> {
  await tx`
    insert into chain_breaks (
      org_id, provider, repository_id, sequence, index, part, expected, found, found_at, note, acknowledged_at, mac
    )
    values (
      ${chain.org_id}, ${chain.provider}, ${chain.repository_id}, ${row.sequence}, ${row.index}, ${row.part},
      ${row.expected}, ${row.found}, ${row.found_at}, ${row.note}, ${row.acknowledged_at}, ${row.mac}
    )`
}

export async function updateAcknowledged(tx: Tx, chain: ChainKey, row: StoredBreak): Promise<void> {
  await tx`
    update chain_breaks
    set note = ${row.note}, acknowledged_at = ${row.acknowledged_at}, mac = ${row.mac}
    where ${buildChainCondition(tx, chain)}
      and sequence = ${row.sequence}`
}

type BrokenChain = ChainKey & { breaks: number; found_at: Date }

const BROKEN_LISTED_MAX = 1000

/** The chains with breaks that are not acknowledged. */
export async function listBrokenChains(db: Db): Promise<BrokenChain[]> {
  return db<BrokenChain[]>`
    select org_id, provider, repository_id, count(*)::int as breaks, min(found_at) as found_at
    from chain_breaks
    where acknowledged_at is null
    group by org_id, provider, repository_id
    order by found_at
    limit ${BROKEN_LISTED_MAX}`
}

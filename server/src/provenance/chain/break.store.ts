import type { Db, Tx } from '../../platform/db/sql.ts'
import { buildChainCondition } from './chain.store.ts'
import type { StoredBreak } from './chain-break.ts'
import type { ChainKey } from './link.ts'

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

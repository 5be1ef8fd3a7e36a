import type { Db } from '../../platform/db/sql.ts'
import type { ChainPosition } from '../chain/link.ts'
import type { Amendment, ChangeRecord } from './change-record.ts'

/** A change with its record. `record` is null after retention has removed it. */
export type StoredChange = {
  org_id: string
  id: string
  provider: string
  repository_id: string
  merge_sha: string
  landed_at: Date
  record: ChangeRecord | null
  amendments: (Amendment & { chain: ChainPosition })[]
  chain: ChainPosition
  /** The last link that concerns the change. */
  last_index: number
}

type CommitName = { org_id: string; provider: string; repository_id: string; sha: string }

type Row = Omit<StoredChange, 'record' | 'amendments' | 'chain'> & { link_index: number }

export async function findChange(db: Db, orgId: string, id: string): Promise<StoredChange | null> {
  const [row] = await db<Row[]>`
    select org_id, id, provider, repository_id, merge_sha, created_at as landed_at, link_index, last_index
    from changes
    where org_id = ${orgId}
      and id = ${id}`
  if (!row) return null
  const links = await db<{ body: string | null; index: number; hash: string; previous_hash: string | null }[]>`
    select link.body, link.index, encode(link.hash, 'hex') as hash, encode(previous.hash, 'hex') as previous_hash
    from chain_links link
    left join chain_links previous
      on previous.org_id = link.org_id
      and previous.provider = link.provider
      and previous.repository_id = link.repository_id
      and previous.index = link.index - 1
    where link.org_id = ${orgId}
      and link.change_id = ${id}
    order by link.index`
  const [record, ...amendments] = links
  const { link_index: _, ...change } = row
  const positionOf = ({ index, hash, previous_hash }: ChainPosition) => ({ index, hash, previous_hash })
  return {
    ...change,
    record: record?.body ? JSON.parse(record.body) : null,
    chain: positionOf(record as ChainPosition),
    amendments: amendments.map((link) => ({ ...JSON.parse(link.body ?? '{}'), chain: positionOf(link) })),
  }
}

/** The change that a commit landed with; null if no change has the commit. */
export async function findChangeOfCommit(_db: Db, _commit: CommitName): Promise<StoredChange | null> {
  return null
}

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

export async function findChange(_db: Db, _orgId: string, _id: string): Promise<StoredChange | null> {
  return null
}

/** The change that a commit landed with; null if no change has the commit. */
export async function findChangeOfCommit(_db: Db, _commit: CommitName): Promise<StoredChange | null> {
  return null
}

import type { ChainKey } from '../chain/link.ts'

/** What determines the statement of a change. */
export type StoredRecord = ChainKey & {
  id: string
  landed_at: Date
  /** The index of the record in the chain. */
  chain: { index: number }
  last_index: number
  /** The hashes of the record and of the last link of the change; null if the link is missing. */
  hashes: { record: string; last: string } | null
  /** Whether a mismatch was found in the chain. */
  has_breaks: boolean
}

/** A row of `buildStoredRecord`. */
export type StoredRecordRow = Omit<StoredRecord, 'chain' | 'hashes'> & {
  index: number
  record: string | null
  last: string | null
}

export function toStoredRecord({ index, record, last, ...change }: StoredRecordRow): StoredRecord {
  return { ...change, chain: { index }, hashes: record === null || last === null ? null : { record, last } }
}

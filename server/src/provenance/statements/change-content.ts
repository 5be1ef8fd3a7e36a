import type { LinkRow } from '../chain/link.store.ts'
import { type ChainPosition, getPosition } from '../chain/link.ts'
import type { ChainState } from '../chain/read-chain-state.ts'
import type { Amendment, ChangeRecord } from '../changes/change-record.ts'
import type { StatementContent, Subject } from './in-toto-statement.ts'

export const CHANGE_RECORD = 'https://shiplock.dev/change-record/v1'

export type Breaks = ChainState['breaks']

/** The record of a change with its amendments, each with its position in the chain. */
export type RecordedChange = {
  record: ChangeRecord
  amendments: (Amendment & { chain: ChainPosition })[]
  chain: ChainPosition
}

/** What the links of a change state. Null if the record is missing or its text is not JSON. */
export function readRecordedChange([first, ...others]: readonly LinkRow[]): RecordedChange | null {
  if (first?.kind !== 'record') return null
  try {
    const record = JSON.parse(first.body ?? '') as ChangeRecord
    const amendments = others.map((link) => ({
      ...(JSON.parse(link.body ?? '') as Amendment),
      chain: getPosition(link),
    }))
    return { record, amendments, chain: getPosition(first) }
  } catch {
    return null
  }
}

/** `breaks` are the acknowledged mismatches of the chain. */
export function toChangeContent(change: RecordedChange, breaks: Breaks): StatementContent {
  const { repository, commits } = change.record
  return {
    subject: [toCommitSubject(repository, commits.merge)],
    predicateType: CHANGE_RECORD,
    predicate: { ...change, ...(breaks.length > 0 && { breaks }) },
  }
}

/**
 * A commit of a repository. `gitCommit` is its SHA-1 or SHA-256 (in-toto Attestation, "DigestSet").
 */
export function toCommitSubject({ host, full_name }: { host: string; full_name: string }, sha: string): Subject {
  return { name: `git+https://${host}/${full_name}`, digest: { gitCommit: sha } }
}

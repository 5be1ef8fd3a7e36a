import type { Db } from '../../platform/db/sql.ts'
import { buildNewestStatement, type StoredStatement } from './statement.store.ts'
import { type StoredRecord, type StoredRecordRow, toStoredRecord } from './stored-record.ts'

/** A change and the statement that was issued last. */
export type IssuedChange = StoredRecord & {
  statement: StoredStatement | null
  /** SHA-256 of the facts of `statement`. */
  facts: Buffer | null
}

type PullRequestId = { provider: string; repository_id: string; number: number }

type Row = StoredRecordRow & { facts: Buffer | null } & (StoredStatement | { [Column in keyof StoredStatement]: null })

/** Finds a change by its id or its pull request, with one query. Null for an unknown one. */
export async function findIssuedChange(
  db: Db,
  orgId: string,
  name: string | PullRequestId,
): Promise<IssuedChange | null> {
  const named = typeof name === 'string' ? db`change.id = ${name}` : isPullRequest(db, name)
  const [row] = await db<Row[]>`
    select change.org_id, change.id, change.provider, change.repository_id, change.landed_at, change.index,
      change.last_index, change.record, change.last, change.has_breaks,
      statement.facts, statement.keyid, statement.statement_digest, statement.envelope, statement.issued_at
    from (${buildStoredRecord(db, db`change.org_id = ${orgId} and ${named}`)}) change
    left join lateral (${buildNewestStatement(db, orgId, 'change', 'change')}) statement on true`
  return row ? toIssuedChange(row) : null
}

/** SQL: selects the rows of changes (`StoredRecordRow`) that satisfy a condition on `change`. */
export function buildStoredRecord(db: Db, condition: ReturnType<Db>) {
  return db`
    select change.org_id, change.id, change.provider, change.repository_id, change.created_at as landed_at,
      change.link_index as index, change.last_index,
      encode(record.hash, 'hex') as record, encode(last.hash, 'hex') as last,
      chain.breaks is distinct from 0 as has_breaks
    from changes change
    left join provenance_chains chain
      on chain.org_id = change.org_id
      and chain.provider = change.provider
      and chain.repository_id = change.repository_id
    left join chain_links record
      on record.org_id = change.org_id
      and record.provider = change.provider
      and record.repository_id = change.repository_id
      and record.index = change.link_index
    left join chain_links last
      on last.org_id = change.org_id
      and last.provider = change.provider
      and last.repository_id = change.repository_id
      and last.index = change.last_index
    where ${condition}`
}

function isPullRequest(db: Db, { provider, repository_id, number }: PullRequestId) {
  return db`change.provider = ${provider} and change.repository_id = ${repository_id} and change.pull_request = ${number}`
}

function toIssuedChange({ keyid, statement_digest, envelope, issued_at, facts, ...row }: Row): IssuedChange {
  const statement = envelope === null ? null : { keyid, statement_digest, envelope, issued_at }
  return { ...toStoredRecord(row), statement, facts }
}

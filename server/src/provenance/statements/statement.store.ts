import { defineExpiringRows } from '../../platform/db/expiring-rows.ts'
import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import { insertLogEntries } from '../log/log.store.ts'
import { type StoredRecord, type StoredRecordRow, toStoredRecord } from './statement-content.ts'

type StatementKind = 'change' | 'lineage' | 'verification'

/** `subject_id` is the id of the change or deployment. */
export type StatementName = { org_id: string; kind: StatementKind; subject_id: string }

export type StoredStatement = {
  keyid: string
  /** SHA-256 of the payload, as `sha256:` and hexadecimal digits. */
  statement_digest: string
  /** The DSSE envelope as JSON text. */
  envelope: string
  issued_at: Date
}

/** The statement with these facts, or null if it was not issued. `facts` is their SHA-256. */
export async function findStatement(db: Db, name: StatementName, facts: Buffer): Promise<StoredStatement | null> {
  const [row] = await db<StoredStatement[]>`
    select keyid, statement_digest, envelope, issued_at
    from statements
    where org_id = ${name.org_id}
      and kind = ${name.kind}
      and subject_id = ${name.subject_id}
      and facts = ${facts}`
  return row ?? null
}

/** The statement that was issued last, whatever its facts are. */
export async function findNewestStatement(db: Db, name: StatementName): Promise<StoredStatement | null> {
  const [row] = await db<StoredStatement[]>`
    select newest.keyid, newest.statement_digest, newest.envelope, newest.issued_at
    from (select ${name.org_id}::uuid as org_id, ${name.subject_id} as id) subject
    cross join lateral (${buildNewestStatement(db, name.org_id, name.kind, 'subject')}) newest`
  return row ?? null
}

/**
 * SQL: selects the statement of a subject that was issued last. `alias` has the `org_id` and the
 * `id` of the subject.
 */
export function buildNewestStatement(db: Db, orgId: string, kind: StatementKind, alias: string) {
  const of = db(alias)
  return db`
    select facts, keyid, statement_digest, envelope, issued_at
    from statements issued
    where org_id = ${of}.org_id ${buildSpreadCondition(db, 'issued', orgId)}
      and kind = ${kind}
      and subject_id = ${of}.id
    order by issued_at desc
    limit 1`
}

/**
 * Stores a statement together with its entry in the transparency log. Returns false, and stores
 * neither, if a statement with these facts exists. Waits for a transaction that is inserting it.
 */
export async function insertStatement(
  db: Db,
  { org_id, kind, subject_id }: StatementName,
  facts: Buffer,
  statement: StoredStatement,
): Promise<boolean> {
  const rows = await db`
    with inserted as (
      insert into statements (org_id, kind, subject_id, facts, keyid, statement_digest, envelope, issued_at)
      values (
        ${org_id}, ${kind}, ${subject_id}, ${facts}, ${statement.keyid}, ${statement.statement_digest},
        ${statement.envelope}, ${statement.issued_at}
      )
      on conflict do nothing
      returning statement_digest
    ), logged as (
      ${insertLogEntries(
        db,
        db`
        select 'statement', decode(substr(statement_digest, 8), 'hex')
        from inserted`,
      )}
    )
    select
    from inserted`
  return rows.length > 0
}

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
  const named =
    typeof name === 'string'
      ? db`change.id = ${name}`
      : db`change.provider = ${name.provider} and change.repository_id = ${name.repository_id}
          and change.pull_request = ${name.number}`
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

function toIssuedChange({ keyid, statement_digest, envelope, issued_at, facts, ...row }: Row): IssuedChange {
  const statement = envelope === null ? null : { keyid, statement_digest, envelope, issued_at }
  return { ...toStoredRecord(row), statement, facts }
}

/** Issued statements. What they are about is older than they are, and has expired, too. */
export const expiringStatements = defineExpiringRows({
  kind: 'statements',
  table: 'statements',
  key: ['kind', 'subject_id', 'facts'],
  order: 'issued_at',
  isExpired: (db, { before }) => db`item.issued_at < ${before}`,
})

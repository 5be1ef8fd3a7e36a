import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import { insertLogEntries } from '../log/log-entry.store.ts'

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

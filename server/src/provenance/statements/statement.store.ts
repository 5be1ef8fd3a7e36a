import type { Db, Tx } from '../../platform/db/sql.ts'

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
    select keyid, statement_digest, envelope, issued_at
    from statements
    where org_id = ${name.org_id}
      and kind = ${name.kind}
      and subject_id = ${name.subject_id}
    order by issued_at desc
    limit 1`
  return row ?? null
}

/**
 * Returns false if a statement with these facts exists. Waits for a transaction that is inserting
 * it.
 */
export async function insertStatement(
  tx: Tx,
  { org_id, kind, subject_id }: StatementName,
  facts: Buffer,
  statement: StoredStatement,
): Promise<boolean> {
  const rows = await tx`
    insert into statements (org_id, kind, subject_id, facts, keyid, statement_digest, envelope, issued_at)
    values (
      ${org_id}, ${kind}, ${subject_id}, ${facts}, ${statement.keyid}, ${statement.statement_digest},
      ${statement.envelope}, ${statement.issued_at}
    )
    on conflict do nothing
    returning 1`
  return rows.length > 0
}

import type { Db } from '../../platform/db/sql.ts'
import type { StoredStatement } from './statement.store.ts'

/** What the fast path of a change statement needs, from one query. */
type IssuedChange = {
  provider: string
  repository_id: string
  landed_at: Date
  /** The hashes of the record and of the last link of the change; null if a link is missing. */
  record: string | null
  last: string | null
  /** The statement that was issued last, and the SHA-256 of its facts. */
  statement: (StoredStatement & { facts: Buffer }) | null
}

type Row = Omit<IssuedChange, 'statement'> & { [Column in keyof IssuedColumns]: IssuedColumns[Column] | null }
type IssuedColumns = StoredStatement & { facts: Buffer }

/** A change with the statement that was issued last. Returns null for an unknown id. */
export async function findIssuedChange(db: Db, orgId: string, id: string): Promise<IssuedChange | null> {
  const [row] = await db<Row[]>`
    select change.provider, change.repository_id, change.created_at as landed_at,
      encode(record.hash, 'hex') as record, encode(last.hash, 'hex') as last,
      statement.facts, statement.keyid, statement.statement_digest, statement.envelope, statement.issued_at
    from changes change
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
    left join lateral (
      select facts, keyid, statement_digest, envelope, issued_at
      from statements
      where org_id = change.org_id
        and kind = 'change'
        and subject_id = change.id
      order by issued_at desc
      limit 1
    ) statement on true
    where change.org_id = ${orgId}
      and change.id = ${id}`
  if (!row) return null
  const { provider, repository_id, landed_at, record, last, ...statement } = row
  return { provider, repository_id, landed_at, record, last, statement: isIssued(statement) ? statement : null }
}

function isIssued(columns: Partial<Record<keyof IssuedColumns, unknown>>): columns is IssuedColumns {
  return columns.envelope !== null
}

import { TRACED_MAX } from '../../ci/subjects/traced-digest.store.ts'
import { defineExpiringRows } from '../../platform/db/expiring-rows.ts'
import { buildSpreadCondition } from '../../platform/db/spread.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { insertLogEntries } from '../log/log.store.ts'
import {
  type StatementColumns,
  type StatementRow,
  type StoredRecord,
  type StoredRecordRow,
  toStatementRow,
  toStoredRecord,
} from './statement-content.ts'

type StatementKind = 'change' | 'lineage' | 'verification'

/** `subject_id` is the id of the change or deployment. */
export type StatementName = { org_id: string; kind: StatementKind; subject_id: string }

/** SQL: the columns of `StatementColumns` of `issued`. */
function buildStatementColumns(db: Db, orgId: string | null) {
  return db`issued.facts, issued.keyid, issued.statement_digest, issued.envelope, issued.issued_at, issued.mac, (
      select json_build_object(
        'keyid', key.keyid, 'pem', key.pem, 'sealed_private_key', key.sealed_private_key, 'kms_key', key.kms_key,
        'created_at', key.created_at, 'retired_at', key.retired_at, 'mac', encode(key.mac, 'hex')
      )
      from signing_keys key
      where key.org_id = issued.org_id ${orgId === null ? db`` : buildSpreadCondition(db, 'key', orgId)}
        and key.keyid = issued.keyid
    ) as key`
}

/** The statement with these facts, or null if it was not issued. `facts` is their SHA-256. */
export async function findStatement(db: Db, name: StatementName, facts: Buffer): Promise<StatementRow | null> {
  const [row] = await db<StatementColumns[]>`
    select ${buildStatementColumns(db, name.org_id)}
    from statements issued
    where org_id = ${name.org_id}
      and kind = ${name.kind}
      and subject_id = ${name.subject_id}
      and facts = ${facts}`
  return row ? toStatementRow(row) : null
}

/** The statement that was issued last, whatever its facts are. */
export async function findNewestStatement(db: Db, name: StatementName): Promise<StatementRow | null> {
  const [row] = await db<StatementColumns[]>`
    select newest.*
    from (select ${name.org_id}::uuid as org_id, ${name.subject_id} as id) subject
    cross join lateral (${buildNewestStatement(db, name.org_id, name.kind, 'subject')}) newest`
  return row ? toStatementRow(row) : null
}

/**
 * SQL: selects the statement of a subject that was issued last. `alias` has the `org_id` and the
 * `id` of the subject.
 */
export function buildNewestStatement(db: Db, orgId: string, kind: StatementKind, alias: string) {
  const of = db(alias)
  return db`
    select ${buildStatementColumns(db, orgId)}
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
  statement: Omit<StatementRow, 'key'>,
  entryMac: Buffer,
): Promise<boolean> {
  const rows = await db`
    with inserted as (
      insert into statements (org_id, kind, subject_id, facts, keyid, statement_digest, envelope, issued_at, mac)
      values (
        ${org_id}, ${kind}, ${subject_id}, ${statement.facts}, ${statement.keyid}, ${statement.statement_digest},
        ${statement.envelope}, ${statement.issued_at}, ${statement.mac}
      )
      on conflict do nothing
      returning statement_digest
    ), logged as (
      ${insertLogEntries(
        db,
        db`
        select 'statement', decode(substr(statement_digest, 8), 'hex'), ${entryMac}::bytea
        from inserted`,
      )}
    )
    select
    from inserted`
  return rows.length > 0
}

/** A change and the statement that was issued last. */
export type IssuedChange = StoredRecord & { statement: StatementRow | null }

type PullRequestId = { provider: string; repository_id: string; number: number }

type Row = StoredRecordRow & (StatementColumns | { [Column in keyof StatementColumns]: null })

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
      statement.*
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

function toIssuedChange({ facts, keyid, statement_digest, envelope, issued_at, mac, key, ...row }: Row): IssuedChange {
  const statement =
    envelope === null ? null : toStatementRow({ facts, keyid, statement_digest, envelope, issued_at, mac, key })
  return { ...toStoredRecord(row), statement }
}

type NamedRow = StatementName & StatementRow

/** Envelopes have up to some hundred kilobytes. */
const STATEMENTS_AT_ONCE = 50

/** The statements of an organization, or of all, one after the other. */
export async function* listAllStatements(db: Db, orgId: string | null): AsyncGenerator<NamedRow> {
  let page = await listStatementsAfter(db, orgId, null)
  while (page.length > 0) {
    yield* page
    page = await listStatementsAfter(db, orgId, page.at(-1) ?? null)
  }
}

async function listStatementsAfter(db: Db, orgId: string | null, after: NamedRow | null): Promise<NamedRow[]> {
  const rows = await db<(StatementName & StatementColumns)[]>`
    select issued.org_id, issued.kind, issued.subject_id, ${buildStatementColumns(db, orgId)}
    from statements issued
    where true
      ${orgId === null ? db`` : db`and issued.org_id = ${orgId}`}
      ${
        after === null
          ? db``
          : db`and (issued.org_id, issued.kind, issued.subject_id, issued.facts)
            > (${after.org_id}, ${after.kind}, ${after.subject_id}, ${after.facts})`
      }
    order by issued.org_id, issued.kind, issued.subject_id, issued.facts
    limit ${STATEMENTS_AT_ONCE}`
  return rows.map((row) => ({
    org_id: row.org_id,
    kind: row.kind,
    subject_id: row.subject_id,
    ...toStatementRow(row),
  }))
}

/** Authenticates a statement as it is stored. */
export async function updateStatementMac(
  db: Db,
  { org_id, kind, subject_id }: StatementName,
  { facts, mac }: Pick<StatementRow, 'facts' | 'mac'>,
): Promise<void> {
  await db`
    update statements
    set mac = ${mac}
    where org_id = ${org_id}
      and kind = ${kind}
      and subject_id = ${subject_id}
      and facts = ${facts}`
}

/** A statement that is not authentic is issued again when it is read next. */
export async function deleteStatement(
  tx: Tx,
  { org_id, kind, subject_id }: StatementName,
  facts: Buffer,
): Promise<void> {
  await tx`
    delete from statements
    where org_id = ${org_id}
      and kind = ${kind}
      and subject_id = ${subject_id}
      and facts = ${facts}`
}

/** Issued statements. What they are about is older than they are, and has expired, too. */
export const expiringStatements = defineExpiringRows({
  kind: 'statements',
  table: 'statements',
  key: ['kind', 'subject_id', 'facts'],
  order: 'issued_at',
  isExpired: (db, { before }) => db`item.issued_at < ${before}`,
})

type TracedStatement = {
  kind: 'lineage' | 'verification'
  deployment_id: string
  statement_digest: string
  envelope: string
  issued_at: string
}

/** The statements about some deployments, newest first. */
export async function listStatementsOfDeployments(
  db: Db,
  orgId: string,
  ids: readonly string[],
): Promise<TracedStatement[]> {
  return db<TracedStatement[]>`
    select kind, subject_id as deployment_id, statement_digest, envelope, rfc3339(issued_at) as issued_at
    from statements
    where org_id = ${orgId}
      and kind in ('lineage', 'verification')
      and subject_id = any(${[...ids]})
    order by statements.issued_at desc
    limit ${TRACED_MAX}`
}

import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { encodePreAuth } from '../src/platform/crypto/signed-bytes.ts'
import type { Sql } from '../src/platform/db/sql.ts'

const PAYLOAD_TYPE = 'application/vnd.in-toto+json'
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

export async function createStatementTable(sql: Sql): Promise<void> {
  await sql`create table if not exists bare_statements (id text primary key, digest text not null, envelope text not null)`
}

/** One row as an object. */
export async function readStatement(sql: Sql, query: URLSearchParams) {
  const [row] = await sql`
    select envelope, statement_digest
    from statements
    where org_id = ${query.get('org')}
      and kind = ${query.get('kind')}
      and subject_id = ${query.get('id')}`
  return { envelope: JSON.parse(row?.envelope), statement_digest: row?.statement_digest }
}

/** Reads the record, signs it and stores the envelope, without verification. */
export async function signStatement(sql: Sql, query: URLSearchParams) {
  const id = query.get('id') ?? ''
  const [row] = await sql`
    select body
    from chain_links
    where org_id = ${query.get('org')}
      and change_id = ${id}
      and kind = 'record'`
  const payload = Buffer.from(row?.body)
  const sig = sign('sha256', encodePreAuth(PAYLOAD_TYPE, payload), privateKey).toString('base64')
  const envelope = { payloadType: PAYLOAD_TYPE, payload: payload.toString('base64'), signatures: [{ sig }] }
  const digest = createHash('sha256').update(payload).digest('hex')
  await sql`insert into bare_statements (id, digest, envelope) values (${id}, ${digest}, ${JSON.stringify(envelope)})`
  return { envelope, statement_digest: digest }
}

import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import type { Sql } from 'postgres'
import { preAuthEncoding } from '../src/platform/crypto/dsse.ts'
import { findIssuedChange } from '../src/provenance/statements/change-statement.store.ts'

const PAYLOAD_TYPE = 'application/vnd.in-toto+json'
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

export async function createStatementTable(sql: Sql): Promise<void> {
  await sql`create table if not exists bare_statements (id text primary key, digest text not null, envelope text not null)`
}

/** The query of our server, and its row as an object. */
export async function readStatement(sql: Sql, query: URLSearchParams) {
  const change = await findIssuedChange(sql as never, query.get('org') ?? '', query.get('id') ?? '')
  const { envelope = 'null', statement_digest } = change?.statement ?? {}
  return { envelope: JSON.parse(envelope), statement_digest }
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
  const sig = sign('sha256', preAuthEncoding(PAYLOAD_TYPE, payload), privateKey).toString('base64')
  const envelope = { payloadType: PAYLOAD_TYPE, payload: payload.toString('base64'), signatures: [{ sig }] }
  const digest = createHash('sha256').update(payload).digest('hex')
  await sql`insert into bare_statements (id, digest, envelope) values (${id}, ${digest}, ${JSON.stringify(envelope)})`
  return { envelope, statement_digest: digest }
}

import { hash, type KeyObject, verify } from 'node:crypto'
import { computeMac, type DsseEnvelope, encodePreAuth, hashValues } from '../../platform/crypto/signed-bytes.ts'
import { hasMacs } from '../log/log-mac.ts'
import { type AuthenticServices, checkKey, isOwnKey, type RowBreak, reportForgery } from './authentic-key.ts'
import { getPublicKey, type SigningKey } from './signing-key.ts'
import type { StatementName } from './statement.store.ts'
import { IN_TOTO, type StatementRow, type StoredStatement } from './statement-content.ts'

/** Authenticates an envelope, and which facts of which subject it states. */
export function computeStatementMac(
  integrityKey: KeyObject,
  { org_id, kind, subject_id }: StatementName,
  facts: Buffer,
  { keyid, statement_digest, envelope, issued_at }: StoredStatement,
): Buffer {
  return computeMac(integrityKey, [
    ...['statement', org_id, kind, subject_id, facts],
    ...[keyid, statement_digest, hash('sha256', envelope, 'buffer'), issued_at],
  ])
}

/**
 * A stored statement as it may be served, or used as an input of another one. Throws 503
 * `unavailable` if its signature does not verify, or if the row or its key was changed.
 */
export async function requireAuthentic(
  services: AuthenticServices,
  name: StatementName,
  row: StatementRow,
): Promise<StoredStatement> {
  const found = await checkStatement(services, name, row)
  if (found !== null) throw reportForgery(services, found)
  const { keyid, statement_digest, envelope, issued_at } = row
  return { keyid, statement_digest, envelope, issued_at }
}

/** Null if a stored statement, and the key that signed it, are authentic. */
export async function checkStatement(
  services: AuthenticServices,
  name: StatementName,
  row: StatementRow,
): Promise<RowBreak | null> {
  const { key } = row
  if (key === null) return toBreak(name, row)
  const ofKey = await checkKey(services, name.org_id, key)
  // What a key that is not ours has signed is no statement of ours, and is named as such.
  if (ofKey !== null)
    return key.kms_key === null && !(await isOwnKey(services, name.org_id, key)) ? toBreak(name, row) : ofKey
  return isSigned(row, key) && (await isAuthenticRow(services, name, row)) ? null : toBreak(name, row)
}

function toBreak({ org_id, kind, subject_id }: StatementName, row: StatementRow): RowBreak {
  const { facts, keyid, statement_digest, envelope, issued_at, mac } = row
  const found = hashValues(kind, subject_id, facts, keyid, statement_digest, envelope, issued_at, mac).toString('hex')
  return { part: 'statement', org_id, resource: `${kind}/${subject_id}/${facts.toString('hex')}`, found }
}

async function isAuthenticRow(services: AuthenticServices, name: StatementName, row: StatementRow): Promise<boolean> {
  if (row.mac !== null) return row.mac.equals(computeStatementMac(services.integrityKey, name, row.facts, row))
  return !(await hasMacs(services, services.sql)) && isAbout(name, row)
}

/**
 * Whether the envelope has one valid signature of the key, and a payload with the stated digest.
 */
function isSigned({ keyid, statement_digest, envelope }: StoredStatement, key: SigningKey): boolean {
  const { payloadType, payload, signatures } = parseEnvelope(envelope)
  const [signature] = signatures
  if (payloadType !== IN_TOTO || signature?.keyid !== keyid || key.keyid !== keyid) return false
  const bytes = Buffer.from(payload, 'base64')
  if (`sha256:${hash('sha256', bytes, 'hex')}` !== statement_digest) return false
  return verify('sha256', encodePreAuth(IN_TOTO, bytes), getPublicKey(key), Buffer.from(signature.sig, 'base64'))
}

/** An empty one for a text that is no envelope. */
function parseEnvelope(text: string): DsseEnvelope {
  try {
    const { payloadType, payload, signatures } = JSON.parse(text)
    const [{ keyid, sig }] = signatures
    return { payloadType: `${payloadType}`, payload: `${payload}`, signatures: [{ keyid: `${keyid}`, sig: `${sig}` }] }
  } catch {
    return { payloadType: '', payload: '', signatures: [] }
  }
}

/** What of a predicate names its subject. */
type Named = {
  record?: { id?: string }
  deployment?: { id?: string }
  inputAttestations?: { uri: string }[]
}

/** Whether the payload of an earlier version's statement is about the subject of its row. */
function isAbout({ kind, subject_id }: StatementName, { envelope }: StoredStatement): boolean {
  const payload = Buffer.from(parseEnvelope(envelope).payload, 'base64').toString()
  const { record, deployment, inputAttestations }: Named = JSON.parse(payload).predicate
  if (kind === 'change') return record?.id === subject_id
  if (kind === 'lineage') return deployment?.id === subject_id
  const lineage = `/deployments/${subject_id}/lineage/statement`
  return inputAttestations?.some(({ uri }) => uri.endsWith(lineage)) === true
}

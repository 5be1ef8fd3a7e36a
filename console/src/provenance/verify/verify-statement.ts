import type { Bytes } from '@shiplock/verify/bytes'
import { CHANGE_RECORD, checkAmendments, checkChangeSubject, checkRecord } from '@shiplock/verify/change-record'
import { Refused } from '@shiplock/verify/checks'
import { findSigner, readEnvelope } from '@shiplock/verify/envelope'
import { decodeBase64, Fields } from '@shiplock/verify/fields'
import { checkCheckpoint, checkEntry, checkInclusion, readLogProof } from '@shiplock/verify/log-proof'
import { type PublicKey, readPublicKeys } from '@shiplock/verify/public-key'
import { readNoteKey } from '@shiplock/verify/signed-note'
import { commitSubject, digestOf, PAYLOAD_TYPE, readStatement, type Statement } from '@shiplock/verify/statement'
import type { Schema } from '../../api/client.ts'
import { type Check, Checks } from './checks.ts'

export type SignedStatement = Schema<'SignedStatement'>
/** A key as the server publishes it. */
type PublishedKey = Pick<Schema<'SigningKeys'>['keys'][number], 'keyid' | 'pem'>

const KIND_NAMES: Record<string, string> = {
  [CHANGE_RECORD]: 'Change record',
  'https://shiplock.dev/promotion-path/v1': 'Promotion path',
  'https://slsa.dev/verification_summary/v1': 'Verification summary',
}

/** What the statement is verified against. `logKey`: as `/log/key` returns it; null if it is not known. */
type Trusted = { keys: readonly PublishedKey[]; logKey: string | null; commit?: string | undefined }

/** Whether this page can verify signatures: browsers offer it on https pages and on localhost only. */
export function canVerify(): boolean {
  return globalThis.crypto?.subtle !== undefined
}

/** Verifies a statement in the browser, step by step (docs/provenance.md). Makes no requests. */
export async function verifyStatement(signed: SignedStatement, { keys, logKey, commit }: Trusted): Promise<Check[]> {
  const checks = new Checks()
  const { envelope, statement_digest } = signed
  await checks.run(
    'Signature',
    () => findPublishedSigner(signed, keys),
    ({ keyid }) => `ECDSA P-256 by the key ${keyid}.`,
  )
  await checks.run(
    'Payload type',
    () => demand(envelope.payloadType === PAYLOAD_TYPE, 'it is another type'),
    () => PAYLOAD_TYPE,
  )
  await checks.run(
    'Digest',
    () => checkDigest(signed),
    () => statement_digest,
  )
  const statement = await checks.run('Statement', () => readStatement(payloadOf(signed)), describeKind)
  if (statement) await checkContent(checks, statement, commit)
  await checkLog(checks, signed, logKey)
  return checks.results
}

/** The signature names its key only as a hint, but the page says whether that key is known. */
async function findPublishedSigner(
  { envelope }: SignedStatement,
  published: readonly PublishedKey[],
): Promise<PublicKey> {
  const read = readEnvelope(new Fields(envelope, 'the envelope'))
  const { keyid } = read.signature
  demand(
    keyid === null || published.some((key) => key.keyid === keyid),
    `the signature names the key ${keyid}, which is not a key of this organization`,
  )
  return findSigner(read, await Promise.all(published.map(readPublished)))
}

async function readPublished({ keyid, pem }: PublishedKey): Promise<PublicKey> {
  const [key] = await readPublicKeys(pem, `the text of the key ${keyid}`)
  if (key?.keyid !== keyid) throw new Refused(`the key ${keyid} does not have the fingerprint that it states`)
  return key
}

async function checkContent(checks: Checks, statement: Statement, commit: string | undefined): Promise<void> {
  const isChange = statement.predicateType === CHANGE_RECORD
  await checks.run(
    'Subject',
    () => {
      const { sha } = isChange ? checkChangeSubject(statement) : commitSubject(statement)
      demand(commit === undefined || sha === commit, `it is about the commit ${sha}, and not about ${commit}`)
      return sha
    },
    (sha) => `It is about the commit ${sha}.`,
  )
  if (isChange) await checks.run('Hash chain', () => checkChain(statement), describeChain)
}

/** The links that the statement has, and how many of them are wrong but named as breaks. */
async function checkChain({ predicate }: Statement): Promise<{ links: number; breaks: number }> {
  const links = [await checkRecord(predicate), ...(await checkAmendments(predicate))]
  return { links: links.length, breaks: links.filter(({ isRight }) => !isRight).length }
}

function describeChain({ links, breaks }: { links: number; breaks: number }): string {
  return breaks === 0
    ? `The hashes of ${links} ${links === 1 ? 'link' : 'links'} are right.`
    : `The statement names ${breaks} acknowledged ${breaks === 1 ? 'break' : 'breaks'} of the chain.`
}

async function checkLog(checks: Checks, signed: SignedStatement, logKey: string | null): Promise<void> {
  const log = signed.unsigned?.log
  if (!log) return
  const readProof = () => readLogProof(new Fields(log, 'the proof'))
  await checks.run(
    'Log entry',
    () => checkEntry(readProof(), payloadOf(signed)),
    () => 'The log has the SHA-256 of this statement.',
  )
  const included = await checks.run(
    'Log inclusion',
    () => checkInclusion(readProof()),
    () => `Entry ${log.leaf_index} of ${log.tree_size} in the log ${log.origin}.`,
  )
  if (included === null || logKey === null) return
  await checks.run(
    'Log checkpoint',
    async () => checkCheckpoint(readProof(), await readNoteKey(logKey)),
    () => `The log ${log.origin} signed it.`,
  )
}

async function checkDigest(signed: SignedStatement): Promise<void> {
  const digest = await digestOf(payloadOf(signed))
  demand(digest === signed.statement_digest, `the digest of the payload is ${digest}`)
}

function payloadOf({ envelope }: SignedStatement): Bytes {
  return decodeBase64(envelope.payload, 'the payload')
}

function demand(isRight: boolean, problem: string): void {
  if (!isRight) throw new Refused(problem)
}

function describeKind({ predicateType }: Statement): string {
  return KIND_NAMES[predicateType] ?? predicateType
}

import { sha256, toHex } from './bytes.ts'
import { checkChain, checkChangeSubject } from './chain.ts'
import { findSigner, type PublicKey, payloadOf, type SignedStatement } from './envelope.ts'
import { checkCheckpoint, checkEntry, checkInclusion } from './log.ts'
import {
  CHANGE_RECORD,
  type Check,
  Checks,
  commitOf,
  KIND_NAMES,
  PAYLOAD_TYPE,
  Refused,
  readStatement,
  type Statement,
} from './statement.ts'

/** What the statement is verified against. `logKey`: as `/log/key` returns it; null if it is not known. */
type Trusted = { keys: readonly PublicKey[]; logKey: string | null; commit?: string | undefined }

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
    () => findSigner(signed, keys),
    ({ keyid }) => `ECDSA P-256 by the key ${keyid}.`,
  )
  await checks.run(
    'Payload type',
    () => demand(envelope.payloadType === PAYLOAD_TYPE, 'It is another type.'),
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

async function checkContent(checks: Checks, statement: Statement, commit: string | undefined): Promise<void> {
  const isChange = statement.predicateType === CHANGE_RECORD
  await checks.run(
    'Subject',
    () => {
      const sha = isChange ? checkChangeSubject(statement) : commitOf(statement).sha
      demand(commit === undefined || sha === commit, `It is about the commit ${sha}, and not about ${commit}.`)
      return sha
    },
    (sha) => `It is about the commit ${sha}.`,
  )
  if (!isChange) return
  await checks.run(
    'Hash chain',
    () => checkChain(statement),
    ({ links, breaks }) =>
      breaks === 0
        ? `The hashes of ${links} ${links === 1 ? 'link' : 'links'} are right.`
        : `The statement names ${breaks} acknowledged ${breaks === 1 ? 'break' : 'breaks'} of the chain.`,
  )
}

async function checkLog(checks: Checks, signed: SignedStatement, logKey: string | null): Promise<void> {
  const proof = signed.unsigned?.log
  if (!proof) return
  await checks.run(
    'Log entry',
    () => checkEntry(proof, payloadOf(signed)),
    () => 'The log has the SHA-256 of this statement.',
  )
  const checkpoint = await checks.run(
    'Log inclusion',
    () => checkInclusion(proof),
    ({ size }) => `Entry ${proof.leaf_index} of ${size} in the log ${proof.origin}.`,
  )
  if (checkpoint === null || logKey === null) return
  await checks.run(
    'Log checkpoint',
    () => checkCheckpoint(checkpoint, logKey),
    () => `The log ${proof.origin} signed it.`,
  )
}

async function checkDigest(signed: SignedStatement): Promise<void> {
  const digest = `sha256:${toHex(await sha256(payloadOf(signed)))}`
  demand(digest === signed.statement_digest, `The digest of the payload is ${digest}.`)
}

function demand(isRight: boolean, problem: string): void {
  if (!isRight) throw new Refused(problem)
}

function describeKind({ predicateType }: Statement): string {
  return KIND_NAMES[predicateType] ?? predicateType
}

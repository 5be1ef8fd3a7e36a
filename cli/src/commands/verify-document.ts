import { createHash } from 'node:crypto'
import { type Check, Checks, Refused } from '../verify/checks.ts'
import { readDocument } from '../verify/document.ts'
import { type Envelope, findSigner } from '../verify/envelope.ts'
import { checkCheckpoint, checkConsistency, checkEntry, checkInclusion, type LogProof } from '../verify/log-proof.ts'
import { PREDICATE_KINDS } from '../verify/predicates/predicate-kinds.ts'
import type { PublicKey } from '../verify/public-key.ts'
import type { NoteKey } from '../verify/signed-note.ts'
import { PAYLOAD_TYPE, readStatement, type Statement, type Subject } from '../verify/statement.ts'

/**
 * What the reader trusts and expects. `checkpoint` is the text of an older checkpoint of the log;
 * `subjects` are digests that the statement must be about, as `<algorithm>:<digest>`.
 */
export type Trusted = { keys: PublicKey[]; logKey: NoteKey | null; checkpoint: string | null; subjects: string[] }

export type Verification = {
  /** Whether every check succeeded. */
  verified: boolean
  checks: Check[]
  /** What was not checked, and why. */
  warnings: string[]
  /** Null unless the statement is verified. */
  statement: VerifiedStatement | null
}

type VerifiedStatement = {
  statement_digest: string
  keyid: string
  predicate_type: string
  subject: Subject[]
  predicate: unknown
  /** What the statement says, in plain words. */
  says: string[]
}

/** Verifies a statement with what the reader trusts and nothing else. */
export function verifyDocument(bytes: Uint8Array, trusted: Trusted): Verification {
  const checks = new Checks()
  const warnings: string[] = []
  const statement = checkAll({ checks, warnings, trusted }, bytes)
  const verified = checks.results.every(({ ok }) => ok)
  return { verified, checks: checks.results, warnings, statement: verified ? statement : null }
}

type Run = { checks: Checks; warnings: string[]; trusted: Trusted }

/** Stops at the first check that the following ones need. */
function checkAll(run: Run, bytes: Uint8Array): VerifiedStatement | null {
  const { checks, trusted } = run
  const document = checks.run(
    'form',
    () => readDocument(bytes),
    () => 'a DSSE envelope with one signature',
  )
  if (document === null) return null
  const { envelope } = document
  const signer = checks.run(
    'signature',
    () => findSigner(envelope, trusted.keys),
    ({ keyid }) => `made by the key ${keyid}`,
  )
  if (signer === null) return null
  const digest = checkPayload(run, envelope, document.statementDigest)
  const statement = checks.run('statement', () => readStatement(envelope.payload), describeForm)
  if (statement === null) return null
  if (trusted.subjects.length > 0)
    checks.run('expected subject', () => requireSubjects(statement, trusted.subjects), String)
  const says = checkPredicate(run, statement)
  checkLog(run, envelope.payload, document.logProof)
  return {
    statement_digest: digest,
    keyid: signer.keyid,
    predicate_type: statement.predicateType,
    subject: statement.subjects,
    predicate: statement.predicate.json,
    says,
  }
}

function checkPayload({ checks }: Run, { payloadType, payload }: Envelope, statedDigest: string | null): string {
  const digest = `sha256:${createHash('sha256').update(payload).digest('hex')}`
  checks.run('payload type', () => requireEqual(payloadType, PAYLOAD_TYPE, 'the payload type'), String)
  if (statedDigest !== null)
    checks.run('digest', () => requireEqual(statedDigest, digest, 'the SHA-256 of the payload'), String)
  return digest
}

function requireEqual(found: string, expected: string, what: string): string {
  if (found !== expected) throw new Refused(`${what} is ${expected}, not ${found}`)
  return expected
}

function describeForm({ subjects }: Statement): string {
  return `an in-toto statement about ${subjects.length} ${subjects.length === 1 ? 'subject' : 'subjects'}`
}

function requireSubjects({ subjects }: Statement, expected: string[]): string {
  const found = subjects.flatMap(({ digest }) => Object.entries(digest).map((entry) => entry.join(':')))
  const missing = expected.find((digest) => !found.includes(digest))
  if (missing !== undefined) throw new Refused(`the statement is not about ${missing}`)
  return expected.join(', ')
}

/** Returns what the statement says. */
function checkPredicate({ checks, warnings }: Run, statement: Statement): string[] {
  const kind = PREDICATE_KINDS[statement.predicateType]
  if (kind === undefined) {
    warnings.push(`The predicate type ${statement.predicateType} is unknown. Only its signature was checked.`)
    return []
  }
  kind.check(checks, statement)
  return (
    checks.run(
      'contents',
      () => kind.describe(statement),
      () => kind.what,
    ) ?? []
  )
}

function checkLog({ checks, warnings, trusted }: Run, payload: Buffer, proof: LogProof | null): void {
  const { logKey, checkpoint } = trusted
  if (proof === null) {
    if (logKey !== null) checks.run('log', () => refuseWithoutProof(), String)
    return
  }
  checks.run('log entry', () => checkEntry(proof, payload), String)
  checks.run('log inclusion', () => checkInclusion(proof), String)
  if (logKey === null) {
    warnings.push("The checkpoint's signature was not checked: give the key of the log with --log-key.")
    return
  }
  checks.run('log checkpoint', () => checkCheckpoint(proof, logKey), String)
  if (checkpoint !== null) checks.run('log consistency', () => checkConsistency(proof, checkpoint, logKey), String)
}

function refuseWithoutProof(): never {
  throw new Refused('the proof of the log is missing: fetch the statement with ?bundle=true')
}

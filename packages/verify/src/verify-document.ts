import type { Bytes } from './bytes.ts'
import { type Check, Checks, Refused } from './checks.ts'
import { readDocument } from './document.ts'
import { type Envelope, findSigner } from './envelope.ts'
import { checkCheckpoint, checkConsistency, checkEntry, checkInclusion, type LogProof } from './log-proof.ts'
import { PREDICATE_KINDS } from './predicates/predicate-kinds.ts'
import { promotionPath } from './predicates/promotion-path.ts'
import type { PublicKey } from './public-key.ts'
import type { NoteKey } from './signed-note.ts'
import { digestOf, PAYLOAD_TYPE, readStatement, type Statement, type Subject } from './statement.ts'

/**
 * What the reader trusts and expects. `checkpoint` is the text of an older checkpoint of the log;
 * `subjects` are digests that the statement must be about, as `<algorithm>:<digest>`. `classes` are
 * those whose statements the reader accepts besides what is verified.
 */
export type Trusted = {
  keys: PublicKey[]
  logKey: NoteKey | null
  checkpoint: string | null
  subjects: string[]
  classes: string[]
}

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
export async function verifyDocument(bytes: Uint8Array, trusted: Trusted): Promise<Verification> {
  const checks = new Checks()
  const warnings: string[] = []
  const statement = await checkAll({ checks, warnings, trusted }, bytes)
  const verified = checks.results.every(({ ok }) => ok)
  return { verified, checks: checks.results, warnings, statement: verified ? statement : null }
}

type Run = { checks: Checks; warnings: string[]; trusted: Trusted }

/** Stops at the first check that the following ones need. */
async function checkAll(run: Run, bytes: Uint8Array): Promise<VerifiedStatement | null> {
  const { checks, trusted } = run
  const document = await checks.run(
    'form',
    () => readDocument(bytes),
    () => 'a DSSE envelope with one signature',
  )
  if (document === null) return null
  const { envelope } = document
  const signer = await checks.run(
    'signature',
    () => findSigner(envelope, trusted.keys),
    ({ keyid }) => `made by the key ${keyid}`,
  )
  if (signer === null) return null
  const digest = await checkPayload(run, envelope, document.statementDigest)
  const statement = await checks.run('statement', () => readStatement(envelope.payload), describeForm)
  if (statement === null) return null
  if (trusted.subjects.length > 0)
    await checks.run('expected subject', () => requireSubjects(statement, trusted), String)
  const says = await checkPredicate(run, statement)
  await checkLog(run, envelope.payload, document.logProof)
  return {
    statement_digest: digest,
    keyid: signer.keyid,
    predicate_type: statement.predicateType,
    subject: statement.subjects,
    predicate: statement.predicate.json,
    says,
  }
}

async function checkPayload(
  { checks }: Run,
  { payloadType, payload }: Envelope,
  statedDigest: string | null,
): Promise<string> {
  const digest = await digestOf(payload)
  await checks.run('payload type', () => requireEqual(payloadType, PAYLOAD_TYPE, 'the payload type'), String)
  if (statedDigest !== null)
    await checks.run('digest', () => requireEqual(statedDigest, digest, 'the SHA-256 of the payload'), String)
  return digest
}

function requireEqual(found: string, expected: string, what: string): string {
  if (found !== expected) throw new Refused(`${what} is ${expected}, not ${found}`)
  return expected
}

function describeForm({ subjects }: Statement): string {
  return `an in-toto statement about ${subjects.length} ${subjects.length === 1 ? 'subject' : 'subjects'}`
}

function requireSubjects(statement: Statement, { subjects: expected, classes }: Trusted): string {
  const stated = listStated(statement)
  for (const digest of expected) {
    const trusts = stated.filter((one) => one.digest === digest).map(({ trust }) => trust)
    if (trusts.length === 0) throw new Refused(`the statement is not about ${digest}`)
    if (trusts.some((trust) => trust === null || classes.includes(trust))) continue
    const hint = trusts.includes('self_reported') ? '; --allow-class self_reported accepts it' : ''
    throw new Refused(`${digest} is only ${trusts[0]}, and not verified${hint}`)
  }
  return expected.join(', ')
}

/**
 * Subjects, and artifacts and reported subjects of a path that are none, with who stated them. Null is
 * verified.
 */
function listStated({ subjects, predicate, predicateType }: Statement): { digest: string; trust: string | null }[] {
  const named = subjects.flatMap(({ digest, annotations }) =>
    Object.entries(digest).map((entry) => ({ digest: entry.join(':'), trust: annotations?.trust ?? null })),
  )
  if (PREDICATE_KINDS[predicateType] !== promotionPath || !predicate.has('decided_at')) return named
  const reported = predicate.has('subjects') ? predicate.objects('subjects') : []
  const others = [...predicate.objects('artifacts'), ...reported].map((item) => {
    return { digest: `sha256:${item.string('sha256')}`, trust: item.string('trust') }
  })
  return [...named, ...others.filter(({ trust }) => trust !== 'verified')]
}

/** Returns what the statement says. */
async function checkPredicate({ checks, warnings }: Run, statement: Statement): Promise<string[]> {
  const kind = PREDICATE_KINDS[statement.predicateType]
  if (kind === undefined) {
    warnings.push(`The predicate type ${statement.predicateType} is unknown. Only its signature was checked.`)
    return []
  }
  await kind.check(checks, statement)
  return (
    (await checks.run(
      'contents',
      () => kind.describe(statement),
      () => kind.what,
    )) ?? []
  )
}

async function checkLog({ checks, warnings, trusted }: Run, payload: Bytes, proof: LogProof | null): Promise<void> {
  const { logKey, checkpoint } = trusted
  if (proof === null) {
    if (logKey !== null) await checks.run('log', () => refuseWithoutProof(), String)
    return
  }
  await checks.run('log entry', () => checkEntry(proof, payload), String)
  await checks.run('log inclusion', () => checkInclusion(proof), String)
  if (logKey === null) {
    warnings.push("The checkpoint's signature was not checked: give the key of the log with --log-key.")
    return
  }
  await checks.run('log checkpoint', () => checkCheckpoint(proof, logKey), String)
  if (checkpoint !== null)
    await checks.run('log consistency', () => checkConsistency(proof, checkpoint, logKey), String)
}

function refuseWithoutProof(): never {
  throw new Refused('the proof of the log is missing: fetch the statement with ?bundle=true')
}

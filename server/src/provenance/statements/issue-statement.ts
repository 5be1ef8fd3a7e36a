import { hash } from 'node:crypto'
import type { Actor } from '../../access/actor.ts'
import { planRequired } from '../../errors/organizations.ts'
import { selectSmallestPlan } from '../../organizations/plan.ts'
import { encodePreAuth, toCanonicalJson } from '../../platform/crypto/signed-bytes.ts'
import type { Services } from '../../services.ts'
import { computeEntryMac } from '../log/log-mac.ts'
import { computeStatementMac, requireAuthentic } from './authentic-statement.ts'
import { loadCurrentSigner } from './rotate-key.ts'
import { findStatement, insertStatement, type StatementName } from './statement.store.ts'
import {
  encodeStatement,
  IN_TOTO,
  type StatementContent,
  type StoredStatement,
  toEnvelope,
} from './statement-content.ts'

type BuildContent = (issuedAt: Date) => StatementContent | Promise<StatementContent>

/**
 * Returns the statement with these facts, and issues it first if it does not exist (provenance.md
 * §3). `facts` determines everything that the statement states except when it was issued. A stored
 * statement keeps its bytes, its key and its signature: equal facts always return the same bytes.
 */
export async function issueStatement(
  services: Services,
  name: StatementName,
  facts: object,
  build: BuildContent,
): Promise<StoredStatement> {
  return storeOnce(services, name, computeFingerprint(facts), await signStatement(services, name, build))
}

/** SHA-256 of the canonical form of facts. */
export function computeFingerprint(facts: object): Buffer {
  return sha256(toCanonicalJson(facts))
}

async function signStatement(
  services: Services,
  { org_id }: StatementName,
  build: BuildContent,
): Promise<StoredStatement> {
  const issued_at = services.clock.now()
  const payload = encodeStatement(await build(issued_at))
  const signer = await loadCurrentSigner(services, org_id)
  const signature = await signer.sign(encodePreAuth(IN_TOTO, payload))
  const { keyid } = signer
  const envelope = JSON.stringify(toEnvelope(payload, keyid, signature))
  return { keyid, statement_digest: `sha256:${sha256(payload).toString('hex')}`, envelope, issued_at }
}

/**
 * If another process has stored a statement with the same facts meanwhile, that one is returned.
 */
async function storeOnce(
  services: Services,
  name: StatementName,
  facts: Buffer,
  statement: StoredStatement,
): Promise<StoredStatement> {
  const { sql, integrityKey } = services
  const sha256 = Buffer.from(statement.statement_digest.slice('sha256:'.length), 'hex')
  const row = { ...statement, facts, mac: computeStatementMac(integrityKey, name, facts, statement) }
  const entryMac = computeEntryMac(integrityKey, { kind: 'statement', sha256 })
  if (await insertStatement(sql, name, row, entryMac)) return statement
  const stored = await findIssued(services, name, [facts])
  if (stored === null) throw new Error('A statement with these facts exists, but cannot be read.')
  return stored
}

/**
 * The issued statement with the first of these facts that has one; null if none has. Throws 503 if
 * it was changed.
 */
export async function findIssued(
  services: Services,
  name: StatementName,
  facts: readonly Buffer[],
): Promise<StoredStatement | null> {
  for (const one of facts) {
    const stored = await findStatement(services.sql, name, one)
    if (stored !== null) return requireAuthentic(services, name, stored)
  }
  return null
}

function sha256(bytes: Buffer | string): Buffer {
  return hash('sha256', bytes, 'buffer')
}

/**
 * Throws 402 `plan_required` unless the plan includes signed statements. Call it after the object
 * was found: an unknown id is 404 on every plan.
 */
export function requireStatements({ plan }: Actor, { plans }: Pick<Services, 'plans'>): void {
  if (plan.features.includes('signed_statements')) return
  const requiredPlan = selectSmallestPlan(plans, 'signed_statements')
  const message = `Signed statements require the plan ${requiredPlan} or above.`
  throw planRequired(message, { requiredPlan })
}

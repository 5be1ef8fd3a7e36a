import { createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto'
import { MINUTE_MS } from '../../platform/clock.ts'
import { hasChecksum, toBase62, withChecksum } from '../../platform/crypto/token.ts'
import { toBrowserAddress } from '../../platform/loopback.ts'
import { createExpiredOutcome, type GateState } from '../deployment-state.ts'
import type { DeploymentGate } from './gate.schema.ts'
import type { StoredGate } from './opened-gate.store.ts'

/** Converts an opened gate to its wire form at `now`. `baseUrl` is the address of the console. */
export function toDeploymentGate(gate: StoredGate, baseUrl: string, now: Date): DeploymentGate {
  const { status, decision, decided_by, note } = getGateStateAt(gate, now)
  const { supersedes, superseded_by } = gate
  return {
    gate_id: gate.id,
    deployment_id: gate.deployment_id,
    environment: gate.environment,
    gate: gate.gate,
    decision,
    status,
    decided_by,
    note,
    url: `${toBrowserAddress(baseUrl)}/deployments/${gate.deployment_id}`,
    poll_after_seconds: pollAfterSeconds(gate.created_at, now),
    ...(supersedes && { supersedes }),
    ...(superseded_by && { superseded_by }),
  }
}

/** An overdue gate reads as expired even before `deployments.settle` has updated it. */
export function getGateStateAt(gate: GateState & Pick<StoredGate, 'answer_until' | 'timeout_minutes'>, now: Date) {
  const isOverdue = gate.status === 'waiting' && gate.answer_until !== null && gate.answer_until <= now
  return isOverdue ? createExpiredOutcome(gate.timeout_minutes).gate : gate
}

/** The longer a gate has been open, the longer clients wait between polls (decisions §9). */
function pollAfterSeconds(openedAt: Date, now: Date): number {
  const ageMs = now.getTime() - openedAt.getTime()
  if (ageMs < MINUTE_MS) return 5
  return ageMs < 10 * MINUTE_MS ? 15 : 60
}

/** Lifetime of a poll token (specification, "Limits"). */
export const POLL_TOKEN_LIFETIME_MS = 12 * 60 * 60_000

const PREFIX = 'shl_gate_'
const SECRET_CHARS = 40
const FORM = /^shl_gate_[0-9A-Za-z]{46}$/

/**
 * Derives the poll token of an opened gate: prefix, 40 base62 characters (238 bits) and a CRC-32,
 * as in an API key. The same gate and issue time give the same token, so opening the gate again
 * returns it although only its hash is stored.
 */
export function computePollToken(key: KeyObject, gateId: string, issuedAt: Date): string {
  const secret = createHmac('sha256', key).update(`${gateId} ${issuedAt.toISOString()}`).digest()
  return withChecksum(PREFIX + toBase62(secret, SECRET_CHARS))
}

/** True if the text has the form of a poll token and a correct CRC-32. */
export function isPollToken(text: string): boolean {
  return FORM.test(text) && hasChecksum(text)
}

export function hashPollToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** True if the token has this hash. Compares in constant time. */
export function verifyPollToken(token: string, sha256: Buffer): boolean {
  return timingSafeEqual(hashPollToken(token), sha256)
}

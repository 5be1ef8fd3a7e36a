import { MINUTE_MS } from '../platform/clock.ts'
import type { StoredGate } from './gates/opened-gate.store.ts'

/** How long a gate waits for a decision (decisions §9). */
export const ANSWER_WITHIN_MS = 12 * 60 * MINUTE_MS

export type GateState = Pick<StoredGate, 'status' | 'decision' | 'decided_by' | 'note'>

/** What becomes of a gate that nobody answered in time. */
export const EXPIRED: GateState = {
  status: 'expired',
  decision: 'rejected',
  decided_by: 'expiry',
  note: 'Nobody answered within 12 hours.',
}

/** How a gate stands at `now`: one past its time reads as expired, whether or not the sweeper has been there. */
export function stateAt(gate: GateState & Pick<StoredGate, 'answer_until'>, now: Date): GateState {
  return gate.status === 'waiting' && gate.answer_until && gate.answer_until <= now ? EXPIRED : gate
}

/** When a client should ask again: often at first, seldom when people take their time. */
export function pollAfterSeconds(openedAt: Date, now: Date): number {
  const ageMs = now.getTime() - openedAt.getTime()
  if (ageMs < MINUTE_MS) return 5
  return ageMs < 10 * MINUTE_MS ? 15 : 60
}

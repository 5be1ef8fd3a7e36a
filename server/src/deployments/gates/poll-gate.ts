import { MINUTE_MS } from '../../platform/clock.ts'
import { Batch } from '../../platform/concurrency.ts'
import { GatewayRejection } from '../../platform/http/api-error.ts'
import { createRateLimitError } from '../../platform/http/errors.ts'
import { defineCounter, defineGauge } from '../../platform/metrics.ts'
import type { Services } from '../../services.ts'
import type { GateWatch } from './gate-watch.ts'
import {
  countPolls,
  findGateById,
  POLLS_PER_MINUTE_MAX,
  type Poll,
  type PolledGate,
  type StoredGate,
  updateRead,
} from './opened-gate.store.ts'
import { getGateStateAt, hashPollToken, POLL_TOKEN_LIFETIME_MS, verifyPollToken } from './opened-gate.ts'

const waiting = defineGauge('shiplock_gate_polls_waiting', 'Requests that wait for the decision of a gate.')
const polls = defineCounter('shiplock_gate_polls_total', 'Polls of gates, by the status of the gate.', ['status'])

/**
 * The gate as its client is told: an approval counts as used from then on, so that new evidence no
 * longer takes it back (trust §2).
 */
export async function readAnswer({ sql }: Pick<Services, 'sql'>, gate: StoredGate): Promise<StoredGate> {
  if (!gate.unread || (await updateRead(sql, gate))) return gate
  // It waits again, or another client has read it.
  const current = await findGateById(sql, gate.id)
  return current === null ? { ...gate, unread: false } : readAnswer({ sql }, current)
}

/** The values of the `RateLimit-*` headers. */
export type PollAllowance = { limit: number; remaining: number; resetSeconds: number }

/**
 * Returns the gate that a poll token gives access to, and counts the poll. Throws the gateway's 401
 * for a token that is unknown, expired or of another gate, and 429 `rate_limited` after too many
 * polls. `report` receives the remaining polls in both the success and the 429 case.
 */
export async function admitPoll(
  { clock }: Services,
  counter: PollCounter,
  { id, token }: { id: string; token: string },
  report: (allowance: PollAllowance) => void,
): Promise<StoredGate> {
  const now = clock.now()
  const gate = await counter.count({ gate_id: id, token_sha256: hashPollToken(token) })
  if (!gate || !verifyPollToken(token, gate.poll_token_sha256)) throw new GatewayRejection(401)
  if (now.getTime() - gate.poll_token_issued_at.getTime() >= POLL_TOKEN_LIFETIME_MS) throw new GatewayRejection(401)
  requireAllowance(gate, now, report)
  polls.inc({ status: getGateStateAt(gate, now).status })
  return gate
}

function requireAllowance(
  { is_admitted, polled_at }: PolledGate,
  now: Date,
  report: (allowance: PollAllowance) => void,
): void {
  const polls = polled_at ?? []
  const resetAt = new Date((polls[0] ?? now).getTime() + MINUTE_MS)
  const resetSeconds = Math.max(1, Math.ceil((resetAt.getTime() - now.getTime()) / 1000))
  report({ limit: POLLS_PER_MINUTE_MAX, remaining: POLLS_PER_MINUTE_MAX - polls.length, resetSeconds })
  if (is_admitted) return
  const message = `A gate can be polled at most ${POLLS_PER_MINUTE_MAX} times a minute. Wait poll_after_seconds between polls.`
  throw createRateLimitError(message, { limit: POLLS_PER_MINUTE_MAX, resetAt, now })
}

/** The longest time that a poll waits for a decision. */
const WAIT_SECONDS_MAX = 20

/**
 * Reads `Prefer: wait=…` (RFC 7240 §4.3): seconds, at most 20; null if the header has no valid wait
 * preference.
 */
export function parseWaitSeconds(header: string | undefined): number | null {
  const asked = (header ?? '')
    .slice(0, 1000)
    .split(',')
    .find((preference) => /^\s*wait\s*=/i.test(preference))
  const value = /=\s*"?(\d{1,9})"?\s*(?:;|$)/.exec(asked ?? '')?.[1]
  return value === undefined ? null : Math.min(Number(value), WAIT_SECONDS_MAX)
}

/**
 * Returns the gate as soon as it is decided. Returns it undecided after `waitMs`, when `gone`
 * aborts because the client has disconnected, or when the server stops.
 */
export async function waitForDecision(
  { sql, clock }: Services,
  watch: GateWatch,
  gate: StoredGate,
  { waitMs, gone }: { waitMs: number; gone: AbortSignal },
): Promise<StoredGate> {
  const over = AbortSignal.any([AbortSignal.timeout(waitMs), gone])
  const changes = watch.watch(gate.id)
  waiting.inc()
  try {
    for (;;) {
      const read = (await findGateById(sql, gate.id)) ?? gate
      const now = clock.now()
      if (getGateStateAt(read, now).status !== 'waiting' || over.aborted || watch.isStopped) return read
      const leftMs = read.answer_until ? read.answer_until.getTime() - now.getTime() : waitMs
      await changes.next(Math.min(leftMs, waitMs), over)
    }
  } finally {
    changes.stop()
    waiting.dec()
  }
}

/**
 * Counts polls of gates exactly, together with all other processes. The polls that arrive while a
 * statement runs are counted by the next one, so that all of them share its round trip.
 */
export class PollCounter {
  readonly #batch: Batch<Poll, PolledGate | null>

  constructor({ sql, clock }: Pick<Services, 'sql' | 'clock'>) {
    const count = async (polls: Poll[]) => {
      const gates = new Map<Poll, PolledGate>()
      for (const round of splitRounds(polls)) {
        const polled = new Map((await countPolls(sql, round, clock.now())).map((gate) => [gate.id, gate]))
        for (const poll of round) if (polled.has(poll.gate_id)) gates.set(poll, polled.get(poll.gate_id) as PolledGate)
      }
      return polls.map((poll) => gates.get(poll) ?? null)
    }
    this.#batch = new Batch(count, { runningMax: 1, itemsMax: 100 })
  }

  /** Returns null if there is no such gate. */
  count(poll: Poll): Promise<PolledGate | null> {
    return this.#batch.add(poll)
  }
}

/** A round has at most one poll of each gate, because a statement changes a row once. */
export function splitRounds(polls: readonly Poll[]): Poll[][] {
  const rounds: Poll[][] = []
  const counts = new Map<string, number>()
  for (const poll of polls) {
    const earlier = counts.get(poll.gate_id) ?? 0
    counts.set(poll.gate_id, earlier + 1)
    const round = rounds[earlier] ?? []
    rounds[earlier] = round
    round.push(poll)
  }
  return rounds
}

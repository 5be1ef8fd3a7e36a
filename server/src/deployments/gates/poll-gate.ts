import { MINUTE_MS } from '../../platform/clock.ts'
import { GatewayRejection, rateLimited } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { stateAt } from '../gate-state.ts'
import type { GateWatch } from './gate-watch.ts'
import { findGateById, type StoredGate } from './opened-gate.store.ts'
import { POLLS_PER_MINUTE_MAX, type PolledGate, pollGate } from './poll-limit.store.ts'
import { hashPollToken, isTokenOf, POLL_TOKEN_LIFETIME_MS } from './poll-token.ts'

/** What is left of a gate's polls, in the words of the RateLimit headers. */
export type PollAllowance = { limit: number; remaining: number; resetSeconds: number }

/**
 * The gate that a poll token reads; counts one poll. Throws the gateway's 401 for any other token, and never says why;
 * 429 `rate_limited` for one poll too many, after `tell` was told what is left.
 */
export async function takePoll(
  { sql, clock }: Services,
  id: string,
  token: string,
  tell: (left: PollAllowance) => void,
): Promise<StoredGate> {
  const now = clock.now()
  const gate = await pollGate(sql, id, hashPollToken(token), now)
  if (!gate || !isTokenOf(token, gate.poll_token_sha256)) throw new GatewayRejection(401)
  if (now.getTime() - gate.poll_token_issued_at.getTime() >= POLL_TOKEN_LIFETIME_MS) throw new GatewayRejection(401)
  tellAllowance(gate, now, tell)
  return gate
}

function tellAllowance({ is_admitted, polled_at }: PolledGate, now: Date, tell: (left: PollAllowance) => void): void {
  const polls = polled_at ?? []
  const resetAt = new Date((polls[0] ?? now).getTime() + MINUTE_MS)
  const resetSeconds = Math.max(1, Math.ceil((resetAt.getTime() - now.getTime()) / 1000))
  tell({ limit: POLLS_PER_MINUTE_MAX, remaining: POLLS_PER_MINUTE_MAX - polls.length, resetSeconds })
  if (is_admitted) return
  const message = `A gate is polled at most ${POLLS_PER_MINUTE_MAX} times a minute.`
  throw rateLimited(message, POLLS_PER_MINUTE_MAX, resetAt, now)
}

/**
 * The gate as soon as it waits no longer, or as it stands after `waitMs`, or when the client has gone or the server
 * stops. The caller has read it once: only a gate that waits is waited for.
 */
export async function awaitDecision(
  { sql, clock }: Services,
  watch: GateWatch,
  gate: StoredGate,
  waitMs: number,
  gone: AbortSignal,
): Promise<StoredGate> {
  const over = AbortSignal.any([AbortSignal.timeout(waitMs), gone])
  const news = watch.watch(gate.id)
  try {
    for (;;) {
      const read = (await findGateById(sql, gate.id)) ?? gate
      const now = clock.now()
      if (stateAt(read, now).status !== 'waiting' || over.aborted || watch.isStopped) return read
      const leftMs = read.answer_until ? read.answer_until.getTime() - now.getTime() : waitMs
      await news.next(Math.min(leftMs, waitMs), over)
    }
  } finally {
    news.stop()
  }
}

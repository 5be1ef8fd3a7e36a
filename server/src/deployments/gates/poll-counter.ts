import { Batch } from '../../platform/batch.ts'
import type { Services } from '../../services.ts'
import { countPolls, type Poll, type PolledGate } from './poll-limit.store.ts'

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

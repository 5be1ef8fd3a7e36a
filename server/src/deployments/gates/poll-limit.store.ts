import { MINUTE_MS } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/sql.ts'
import { buildGateColumns, buildGateTables, type StoredGate } from './opened-gate.store.ts'

/** Maximum number of polls of one gate in any minute (specification, "Limits"). */
export const POLLS_PER_MINUTE_MAX = 12

export type Poll = { gate_id: string; token_sha256: Buffer }

/**
 * A gate and its counted polls. Both fields are null when the token belongs to another gate and
 * nothing was counted.
 */
export type PolledGate = StoredGate & { is_admitted: boolean | null; polled_at: Date[] | null }

/**
 * Reads gates and counts their polls as far as the limit allows them, at most one of each gate. One
 * statement makes the counts exact across processes. A gate is counted only if one of the polls has
 * its token, because otherwise anyone could use up a gate's polls.
 */
export async function countPolls(db: Db, polls: readonly Poll[], now: Date): Promise<PolledGate[]> {
  const ids = polls.map(({ gate_id }) => gate_id)
  const tokens = polls.map(({ token_sha256 }) => token_sha256.toString('hex'))
  // In the order of the gates, so that processes do not wait for each other in a circle.
  return db<PolledGate[]>`
    with polled as (
      insert into gate_polls as poll (org_id, gate_id, polled_at, is_admitted, last_polled_at)
      select org_id, id, array[${now}::timestamptz(3)], true, ${now}
      from opened_gates
      where id = any(${ids}::uuid[])
        and encode(poll_token_sha256, 'hex') = any(${tokens}::text[])
      order by id
      on conflict (org_id, gate_id) do update
      set (polled_at, is_admitted, last_polled_at) = (${withPoll(db, now)})
      returning org_id, gate_id, is_admitted, polled_at
    )
    select ${buildGateColumns(db)}, polled.is_admitted, polled.polled_at
    from ${buildGateTables(db)}
    left join polled on polled.org_id = gate.org_id and polled.gate_id = gate.id
    where gate.id = any(${ids}::uuid[])`
}

/** The polls of the last minute, including this one if the limit allows it. */
function withPoll(db: Db, now: Date) {
  const minuteAgo = new Date(now.getTime() - MINUTE_MS)
  return db`
    select case when cardinality(kept) < ${POLLS_PER_MINUTE_MAX} then kept || ${now}::timestamptz(3) else kept end,
      cardinality(kept) < ${POLLS_PER_MINUTE_MAX}, ${now}::timestamptz(3)
    from (
      select array(select at from unnest(poll.polled_at) at where at > ${minuteAgo} order by at) as kept
    ) polls`
}

/** Deletes the counts of gates that were not polled since. */
export async function deletePolls(db: Db, lastPolledBefore: Date): Promise<void> {
  await db`
    delete from gate_polls
    where last_polled_at < ${lastPolledBefore}`
}

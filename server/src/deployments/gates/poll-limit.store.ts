import { MINUTE_MS } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/sql.ts'
import { gateColumns, gateTables, type StoredGate } from './opened-gate.store.ts'

/** Maximum number of polls of one gate in any minute (specification, "Limits"). */
export const POLLS_PER_MINUTE_MAX = 12

/**
 * A gate and its counted polls. Both fields are null when the token belongs to another gate and
 * nothing was counted.
 */
export type PolledGate = StoredGate & { is_admitted: boolean | null; polled_at: Date[] | null }

/**
 * Reads a gate and counts the poll if the limit allows it. One statement makes the count exact
 * across processes. A poll with a wrong token is not counted, because otherwise anyone could use up
 * a gate's polls.
 */
export async function countPoll(db: Db, id: string, tokenSha256: Buffer, now: Date): Promise<PolledGate | null> {
  const [row] = await db<PolledGate[]>`
    with polled as (
      insert into gate_polls as poll (org_id, gate_id, polled_at, is_admitted, last_polled_at)
      select org_id, id, array[${now}::timestamptz(3)], true, ${now}
      from opened_gates
      where id = ${id}
        and poll_token_sha256 = ${tokenSha256}
      on conflict (org_id, gate_id) do update
      set (polled_at, is_admitted, last_polled_at) = (${withPoll(db, now)})
      returning org_id, gate_id, is_admitted, polled_at
    )
    select ${gateColumns(db)}, polled.is_admitted, polled.polled_at
    from ${gateTables(db)}
    left join polled on polled.org_id = gate.org_id and polled.gate_id = gate.id
    where gate.id = ${id}`
  return row ?? null
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

import { buildLinkedRepository, buildRunExists, buildRunLane } from '../../ci/runs/run.store.ts'
import type { TrustClass } from '../../ci/runs/trust.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import { buildEnvironmentsEqual } from '../../repositories/repository.store.ts'
import type { NearestAttempts } from '../deployment-state.store.ts'
import type { GateState } from '../deployment-state.ts'

/** Identifies an opened gate. `job` is empty when the request named none. */
export type OpenedGateKey = { org_id: string; run_id: string; attempt: number; environment: string; job: string }

type NewOpenedGate = OpenedGateKey & {
  id: string
  state: GateState
  deployment_id: string
  /** That of the run. A token that takes over the run does not get the gate. */
  lane: string
  /** The API key or the trust that opens the gate. */
  credential_id: string
  /** The lane of the credential. */
  opener_lane: string
  timeout_minutes: number | null
  poll_token_sha256: Buffer
  /** The gate that this one takes the place of. */
  supersedes: string | null
  created_at: Date
}

export async function insertOpenedGate(tx: Tx, gate: NewOpenedGate): Promise<void> {
  const { state } = gate
  await tx`
    insert into opened_gates (
      org_id, id, deployment_id, run_id, attempt, environment, job, lane, credential_id, opener_lane, timeout_minutes,
      status, decision, decided_by, note, poll_token_sha256, poll_token_issued_at, supersedes, created_at
    )
    values (
      ${gate.org_id}, ${gate.id}, ${gate.deployment_id}, ${gate.run_id}, ${gate.attempt}, ${gate.environment},
      ${gate.job}, ${gate.lane}, ${gate.credential_id}, ${gate.opener_lane}, ${gate.timeout_minutes}, ${state.status},
      ${state.decision}, ${state.decided_by}, ${state.note}, ${gate.poll_token_sha256}, ${gate.created_at},
      ${gate.supersedes}, ${gate.created_at}
    )`
}

/** Of a gate that was opened, and of its deployment. */
export type OpenedGateIds = Pick<StoredGate, 'id' | 'deployment_id'>

/** Null for a gate from before the lane of its opener was stored. */
export type OpenedBy = OpenedGateIds & { opener_lane: TrustClass | null }

/** Returns the gate that was opened last with this key, or null. */
export async function findOpenedGate(db: Db, key: OpenedGateKey): Promise<OpenedBy | null> {
  const [row] = await db<OpenedBy[]>`
    select id, deployment_id, opener_lane
    from opened_gates
    where org_id = ${key.org_id}
      and run_id = ${key.run_id}
      and attempt = ${key.attempt}
      and ${isForEnvironment(db, key)}
      and job = ${key.job}
      and superseded_by is null
      and ${isOfLane(db, key)}
    order by environment = ${key.environment} desc
    limit 1`
  return row ?? null
}

/** Notes that another gate takes the place of this one. The run is locked. */
export async function updateSuperseded(tx: Tx, orgId: string, id: string, by: string): Promise<void> {
  await tx`
    update opened_gates
    set superseded_by = ${by}
    where org_id = ${orgId}
      and id = ${id}`
}

/** The name, or another spelling of it where the host of the run has no case. */
function isForEnvironment(db: Db, { org_id, run_id, environment }: OpenedGateKey): ReturnType<Db> {
  const host: Record<'provider' | 'address', ReturnType<Db>> = {
    provider: db`(${buildLinkedRepository(db, org_id)}) ->> 'provider'`,
    address: db`run.repository`,
  }
  const isSame: ReturnType<Db> = buildEnvironmentsEqual(db, [db`opened_gates.environment`, db`${environment}`], host)
  return db`(
    environment = ${environment}
    or ${buildRunExists(db, { org_id, run_id }, isSame)}
  )`
}

/** Gates from before lanes were stored belong to whatever lane their run has. */
function isOfLane(db: Db, key: OpenedGateKey): ReturnType<Db> {
  return db`(lane is null or lane = ${buildRunLane(db, key)})`
}

/**
 * The deployments of the nearest attempts that opened a gate for the same run, environment and job.
 * The run is locked.
 */
export async function findNearestAttempts(tx: Tx, key: OpenedGateKey): Promise<NearestAttempts> {
  const ofOtherAttempts = tx`
    select deployment_id
    from opened_gates
    where org_id = ${key.org_id}
      and run_id = ${key.run_id}
      and ${isForEnvironment(tx, key)}
      and job = ${key.job}
      and superseded_by is null
      and ${isOfLane(tx, key)}`
  const [row] = await tx<[NearestAttempts]>`
    select (${ofOtherAttempts} and attempt < ${key.attempt} order by attempt desc limit 1) as previous,
      (${ofOtherAttempts} and attempt > ${key.attempt} order by attempt limit 1) as next`
  return row
}

/**
 * An opened gate. `gate` is the first required gate that is not approved, or the first one when all
 * are.
 */
export type StoredGate = GateState & {
  org_id: string
  id: string
  deployment_id: string
  environment: string
  gate: { id: string; name: string }
  answer_until: Date | null
  /** How long it waits; null for the default. */
  timeout_minutes: number | null
  /** Whether the policies of the deployment were evaluated. */
  is_evaluated: boolean
  /** Whether it was approved and nobody has read that. */
  unread: boolean
  /** The gate that this one takes the place of, and the one that takes its place. */
  supersedes: string | null
  superseded_by: string | null
  poll_token_sha256: Buffer
  poll_token_issued_at: Date
  created_at: Date
}

/** Finds a gate of any organization: a poll token does not identify its organization. */
export async function findGateById(db: Db, id: string): Promise<StoredGate | null> {
  const [row] = await db<StoredGate[]>`
    select ${buildGateColumns(db)}
    from ${buildGateTables(db)}
    where gate.id = ${id}`
  return row ?? null
}

/** The columns of `StoredGate`. */
function buildGateColumns(db: Db) {
  return db`
    gate.org_id, gate.id, gate.deployment_id, gate.environment,
    json_build_object('id', required.id, 'name', required.name) as gate, gate.status, gate.decision, gate.decided_by,
    gate.note, gate.unread, gate.supersedes, gate.superseded_by, gate.timeout_minutes, deployment.answer_until,
    deployment.policies_asked_at is not null as is_evaluated,
    gate.poll_token_sha256, gate.poll_token_issued_at, gate.created_at`
}

function buildGateTables(db: Db) {
  return db`
    opened_gates gate
    join deployments deployment on deployment.org_id = gate.org_id and deployment.id = gate.deployment_id
    cross join lateral (
      select id, name
      from required_gates
      where org_id = gate.org_id
        and deployment_id = gate.deployment_id
      order by approved_at is not null, position
      limit 1
    ) required`
}

/** Notes that an approval was read. Returns false if it was before, or the gate waits again. */
export async function updateRead(db: Db, { org_id, id }: Pick<StoredGate, 'org_id' | 'id'>): Promise<boolean> {
  const rows = await db`
    update opened_gates
    set unread = false
    where org_id = ${org_id}
      and id = ${id}
      and unread
    returning id`
  return rows.length > 0
}

/** With `opener`, another credential takes the gate over. */
export async function updatePollToken(
  tx: Tx,
  { org_id, id }: Pick<StoredGate, 'org_id' | 'id'>,
  { poll_token_sha256, poll_token_issued_at }: Pick<StoredGate, 'poll_token_sha256' | 'poll_token_issued_at'>,
  opener: { credential_id: string; opener_lane: TrustClass } | null,
): Promise<void> {
  await tx`
    update opened_gates
    set poll_token_sha256 = ${poll_token_sha256}, poll_token_issued_at = ${poll_token_issued_at},
      credential_id = coalesce(${opener?.credential_id ?? null}, credential_id),
      opener_lane = coalesce(${opener?.opener_lane ?? null}, opener_lane)
    where org_id = ${org_id}
      and id = ${id}`
}

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

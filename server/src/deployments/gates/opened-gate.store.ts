import type { Db, Tx } from '../../platform/db/sql.ts'
import type { OpenedGateKey } from '../new-deployment.store.ts'
import type { ConfiguredGate } from './configure/configured-gate.store.ts'

export type NewOpenedGate = OpenedGateKey & {
  id: string
  deployment_id: string
  poll_token_sha256: Buffer
  created_at: Date
}

/** Stores an opened gate that waits, with what it requires in this order. */
export async function insertOpenedGate(tx: Tx, orgId: string, gate: NewOpenedGate, required: ConfiguredGate[]) {
  const opened = tx`
    insert into opened_gates (
      org_id, id, deployment_id, run_id, attempt, environment, job, status, decision, poll_token_sha256,
      poll_token_issued_at, created_at
    )
    values (
      ${orgId}, ${gate.id}, ${gate.deployment_id}, ${gate.run_id}, ${gate.attempt}, ${gate.environment}, ${gate.job},
      'waiting', 'pending', ${gate.poll_token_sha256}, ${gate.created_at}, ${gate.created_at}
    )`
  const listed = tx`
    insert into required_gates (
      org_id, deployment_id, position, id, name, required_approvals, allow_api_keys, allow_run_creator, policies
    )
    select ${orgId}, ${gate.deployment_id}, position, id, name, required_approvals, allow_api_keys, allow_run_creator,
      policies
    from json_to_recordset(${tx.json(required.map(toRecord))}::json) as given (
      position smallint, id uuid, name text, required_approvals smallint, allow_api_keys boolean,
      allow_run_creator boolean, policies text[]
    )`
  await Promise.all([opened, listed])
}

function toRecord({ created_at: _, ...gate }: ConfiguredGate, position: number) {
  return { ...gate, position }
}

/** The gate that was opened for this before, or null. */
export async function findOpenedGate(db: Db, orgId: string, key: OpenedGateKey): Promise<string | null> {
  const [row] = await db<{ id: string }[]>`
    select id
    from opened_gates
    where org_id = ${orgId}
      and run_id = ${key.run_id}
      and attempt = ${key.attempt}
      and environment = ${key.environment}
      and job = ${key.job}`
  return row?.id ?? null
}

/** An opened gate as it is stored, with the first of its required gates that has not approved, else the first. */
export type StoredGate = {
  org_id: string
  id: string
  deployment_id: string
  environment: string
  gate: { id: string; name: string }
  status: 'waiting' | 'decided' | 'expired' | 'cancelled'
  decision: 'pending' | 'approved' | 'rejected'
  decided_by: string | null
  note: string | null
  answer_until: Date | null
  poll_token_sha256: Buffer
  poll_token_issued_at: Date
  created_at: Date
}

/** The gate of that id, whosever it is: a poll token names no organization. */
export async function findGateById(db: Db, id: string): Promise<StoredGate | null> {
  const [row] = await db<StoredGate[]>`
    select ${gateColumns(db)}
    from ${gateTables(db)}
    where gate.id = ${id}`
  return row ?? null
}

/** The members of `StoredGate`. */
export function gateColumns(db: Db) {
  return db`
    gate.org_id, gate.id, gate.deployment_id, gate.environment,
    json_build_object('id', required.id, 'name', required.name) as gate, gate.status, gate.decision, gate.decided_by,
    gate.note, deployment.answer_until, gate.poll_token_sha256, gate.poll_token_issued_at, gate.created_at`
}

export function gateTables(db: Db) {
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

export async function renewPollToken(tx: Tx, orgId: string, id: string, sha256: Buffer, issuedAt: Date): Promise<void> {
  await tx`
    update opened_gates
    set poll_token_sha256 = ${sha256}, poll_token_issued_at = ${issuedAt}
    where org_id = ${orgId}
      and id = ${id}`
}

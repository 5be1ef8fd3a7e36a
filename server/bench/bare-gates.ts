import { randomUUID } from 'node:crypto'
import type { Sql } from '../src/platform/db/sql.ts'
import type { Json } from '../test/support/json.ts'

export async function createGateTables(sql: Sql): Promise<void> {
  await sql`
    create table if not exists bare_gates (
      id uuid primary key,
      run_id text not null,
      environment text not null,
      job text not null,
      decision text not null,
      created_at timestamptz not null,
      unique (run_id, environment, job)
    )`
  await sql`create unlogged table if not exists bare_polls (gate_id uuid primary key, polls bigint not null)`
}

/**
 * Reads the attestations of the run, looks at their status, and stores one row with the decision.
 */
export async function openGate(sql: Sql, { run_id, environment, job }: Record<string, Json>) {
  const attestations = await sql`
    select attestation.kind, attestation.name, attestation.status, attestation.data
    from ci_reports report
    join ci_attestations attestation on attestation.org_id = report.org_id and attestation.report_id = report.id
    where report.run_id = ${run_id}`
  const decision = attestations.every(({ status }) => status === 'pass') ? 'approved' : 'pending'
  const gate = { id: randomUUID(), run_id, environment, job, decision, created_at: new Date() }
  await sql`insert into bare_gates ${sql(gate)}`
  return gate
}

/** Counts the poll and reads the row. */
export async function pollGate(sql: Sql, id: string) {
  await sql`
    insert into bare_polls as poll (gate_id, polls)
    values (${id}, 1)
    on conflict (gate_id) do update
    set polls = poll.polls + 1`
  const [gate] = await sql`select id, environment, decision, created_at from bare_gates where id = ${id}`
  return gate
}

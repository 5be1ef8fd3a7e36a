import { randomUUID } from 'node:crypto'
import type { Sql } from '../src/platform/db/sql.ts'
import type { Json } from '../test/support/json.ts'

export async function createReportTables(sql: Sql): Promise<void> {
  await sql`
    create table if not exists bare_reports (
      id uuid primary key, job text not null, summary text, created_at timestamptz not null
    )`
  await sql`
    create table if not exists bare_attestations (
      id uuid primary key, report_id uuid not null, kind text not null, name text not null, data jsonb not null
    )`
  await sql`
    create table if not exists bare_artifacts (
      id uuid primary key, report_id uuid not null, path text not null, size bigint not null, sha256 text not null
    )`
}

/** The rows of a report, one INSERT a table, in one transaction. */
export async function insertReport(sql: Sql, body: Json) {
  const id = randomUUID()
  const attestations = body.attestations.map((item: Json) => ({ id: randomUUID(), report_id: id, ...item }))
  const artifacts = body.artifacts.map((item: Json) => ({ id: randomUUID(), report_id: id, ...item }))
  await sql.begin(async (tx) => {
    await tx`
      insert into bare_reports (id, job, summary, created_at)
      values (${id}, ${body.job.name}, ${body.summary}, ${new Date()})`
    await tx`insert into bare_attestations ${tx(attestations, 'id', 'report_id', 'kind', 'name', 'data')}`
    await tx`insert into bare_artifacts ${tx(artifacts, 'id', 'report_id', 'path', 'size', 'sha256')}`
  })
  return { id, artifacts }
}

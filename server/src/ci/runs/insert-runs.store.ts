import { isSpread } from '../../platform/db/spread.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { NewRun } from './new-run.store.ts'
import { buildLinkedRepository, type LinkedRepository } from './run.store.ts'

/** The columns of an inserted run that its caller does not know yet. */
export type InsertedRun = { id: string; linked_repository: LinkedRepository | null }

/**
 * Inserts runs, each with its first attempt, and returns the inserted ones. A run is left out when
 * it exists already or when another process has used its day number; `lockRun` finds out which.
 * Rows are inserted in a fixed order, so that two calls cannot deadlock. `orgId` is the
 * organization of all runs, or null for several.
 */
export async function insertRuns(db: Db, runs: readonly NewRun[], orgId: string | null): Promise<InsertedRun[]> {
  return isSpread() && orgId !== null ? insertOnServer(db, runs, orgId) : insertTogether(db, runs)
}

async function insertTogether(db: Db, runs: readonly NewRun[]): Promise<InsertedRun[]> {
  return db<InsertedRun[]>`
    insert into ci_runs as run (
      org_id, id, provider, ci_system, ci_system_name, external_run_id, repository, commit_sha, ref, pipeline_name,
      event, trust, credential_type, credential_id, credential_name, day, day_number, newest_attempt, status, url,
      actor, started_at, deadline_at, claims, claimed_provider, claimed_repository_id, created_at, updated_at
    )
    select org_id, id, provider, ci_system, ci_system_name, external_run_id, repository, commit_sha, ref,
      pipeline_name, event, trust, credential_type, credential_id, credential_name, created_at, day_number, number,
      status, url, actor, started_at, deadline_at, claims, claimed_provider, claimed_repository_id, created_at,
      created_at
    from json_to_recordset(${db.json(runs.map(toRecord))}::json) as given (
      org_id uuid, id text, provider text, ci_system text, ci_system_name text, external_run_id text,
      repository text, commit_sha text, ref text, pipeline_name text, event text, trust text,
      credential_type text, credential_id uuid, credential_name text, day_number smallint,
      number smallint, status text, url text, actor text, started_at timestamptz, deadline_at timestamptz,
      claims jsonb, claimed_provider text, claimed_repository_id text, created_at timestamptz
    )
    order by org_id, ci_system, external_run_id
    on conflict do nothing
    returning run.id, ${buildLinkedRepository(db, null)} as linked_repository`
}

/**
 * Citus passes rows of one organization to its server as they are. What a query makes, it collects
 * first, which takes about nine times as long.
 */
async function insertOnServer(db: Db, runs: readonly NewRun[], orgId: string): Promise<InsertedRun[]> {
  const rows = runs.toSorted(bySource).map((run) => toRow(db, run))
  const repositories = runs.map(({ id, org_id, repository, claimed }) => ({
    id,
    org_id,
    repository,
    ...buildClaimed(claimed),
  }))
  const [inserted, linked] = await Promise.all([
    db<{ id: string }[]>`insert into ci_runs ${db(rows as never[])} on conflict do nothing returning id`,
    db<InsertedRun[]>`
      select run.id, ${buildLinkedRepository(db, orgId)} as linked_repository
      from json_to_recordset(${db.json(repositories)}::json) as run (
        id text, org_id uuid, repository text, claimed_provider text, claimed_repository_id text
      )`,
  ])
  const ids = new Set(inserted.map(({ id }) => id))
  return linked.filter(({ id }) => ids.has(id))
}

function bySource(a: NewRun, b: NewRun): number {
  return compare(a.ci_system, b.ci_system) || compare(a.external_run_id, b.external_run_id)
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b))

/** A run as the columns of its table. */
function toRow(db: Db, run: NewRun) {
  const { number: newest_attempt, claims, ...columns } = toRecord(run)
  const { created_at } = run
  return {
    ...columns,
    newest_attempt,
    claims: claims ? db.json(claims) : null,
    day: created_at,
    updated_at: created_at,
  }
}

/** A run as a record of JSON, with the names that `insertTogether` reads. */
function toRecord({ credential, attempt, claimed, ...run }: NewRun) {
  return {
    ...run,
    ...attempt,
    claims: claimed?.claims,
    ...buildClaimed(claimed),
    credential_type: credential.type,
    credential_id: credential.id,
    credential_name: credential.name,
  }
}

function buildClaimed(claimed: NewRun['claimed']) {
  return { claimed_provider: claimed?.provider ?? null, claimed_repository_id: claimed?.repository_id ?? null }
}

import type { Db, Tx } from '../../../platform/db/sql.ts'

/** A regroup of an organization, with its counts so far. */
export type RegroupRun = {
  id: string
  status: 'running' | 'finished' | 'undoing' | 'undone' | 'expired'
  /** The last repository that was finished; if `bucket` is not null, this one up to that bucket. */
  repository_no: number
  bucket: string | null
  batches: number
  findings: number
  moved: number
  restated: number
  merged: number
  split: number
}

/** Returns the organization's unfinished run, or creates one with this id. */
export async function openRun(db: Db, orgId: string, id: string, at: Date): Promise<RegroupRun> {
  const [run] = await db<[RegroupRun]>`
    insert into issue_regroups as run (org_id, id, status, started_at, updated_at)
    values (${orgId}, ${id}, 'running', ${at}, ${at})
    on conflict (org_id) where status in ('running', 'undoing') do update
    set updated_at = excluded.updated_at
    returning ${runColumns(db)}`
  return run
}

/** Reads a run and locks it until the transaction ends. */
export async function lockRun(tx: Tx, orgId: string, id: string): Promise<RegroupRun | null> {
  const [run] = await tx<RegroupRun[]>`
    select ${runColumns(tx)}
    from issue_regroups run
    where org_id = ${orgId}
      and id = ${id}
    for update`
  return run ?? null
}

export async function updateRun(tx: Tx, orgId: string, run: RegroupRun, at: Date): Promise<void> {
  await tx`
    update issue_regroups
    set status = ${run.status}, repository_no = ${run.repository_no}, bucket = decode(${run.bucket}, 'hex'),
      batches = ${run.batches}, findings = ${run.findings}, moved = ${run.moved}, restated = ${run.restated},
      merged = ${run.merged}, split = ${run.split}, updated_at = ${at}
    where org_id = ${orgId}
      and id = ${run.id}`
}

/**
 * Returns the latest run after this one that is not undone and changed something. It must be undone
 * first.
 */
export async function findLaterRun(db: Db, orgId: string, id: string): Promise<string | null> {
  const [later] = await db<{ id: string }[]>`
    select id
    from issue_regroups
    where org_id = ${orgId}
      and id > ${id}
      and (status in ('running', 'undoing') or (status = 'finished' and batches > 0))
    order by id desc
    limit 1`
  return later?.id ?? null
}

function runColumns(db: Db) {
  return db`
    run.id, run.status, run.repository_no, encode(run.bucket, 'hex') as bucket, run.batches, run.findings, run.moved,
    run.restated, run.merged, run.split`
}

import { defineExpiringRows, type Expiring, type ExpiringTable } from '../../platform/db/expiring-rows.ts'
import type { Db, Tx } from '../../platform/db/sql.ts'
import type { RegroupCounts } from './regroup-buckets.ts'

/** A regroup of an organization, with its counts so far. */
export type RegroupRun = RegroupCounts & {
  id: string
  status: 'running' | 'finished' | 'undoing' | 'undone' | 'expired'
  /** The last repository that was begun. */
  repository_no: number
  /** The repositories that were begun and are not finished, by number. */
  in_progress: Record<string, Place>
  /** The last batch whose number was given out. Not every one has written something. */
  last_batch: number
}

/**
 * Everything up to `bucket` is regrouped; null for nothing. `batch` is the number of what follows.
 */
export type Place = { bucket: string | null; batch: number }

/** Returns the organization's unfinished run, or creates one with this id. */
export async function upsertRun(
  db: Db,
  orgId: string,
  id: string,
  at: Date,
): Promise<Pick<RegroupRun, 'id' | 'status'>> {
  const [run] = await db<[Pick<RegroupRun, 'id' | 'status'>]>`
    insert into issue_regroups as run (org_id, id, status, started_at, updated_at)
    values (${orgId}, ${id}, 'running', ${at}, ${at})
    on conflict (org_id) where status in ('running', 'undoing') do update
    set updated_at = excluded.updated_at
    returning run.id, run.status`
  return run
}

/** Reads a run that exists. */
export async function requireRun(db: Db, orgId: string, id: string): Promise<RegroupRun> {
  const [run] = await db<[RegroupRun]>`
    select ${runColumns(db)}
    from issue_regroups run
    where org_id = ${orgId}
      and id = ${id}`
  return run
}

/**
 * Reads a run and locks it until the transaction ends. Transactions with `key share` do not wait
 * for each other nor for those with `no key update`, but `update` waits for all and they for it.
 */
export async function lockRun(
  tx: Tx,
  orgId: string,
  id: string,
  strength: 'key share' | 'no key update' | 'update',
): Promise<RegroupRun | null> {
  const [run] = await tx<RegroupRun[]>`
    select ${runColumns(tx)}
    from issue_regroups run
    where org_id = ${orgId}
      and id = ${id}
    for ${tx.unsafe(strength)}`
  return run ?? null
}

export async function updateRun(tx: Tx, orgId: string, run: RegroupRun, at: Date): Promise<void> {
  await tx`
    update issue_regroups
    set status = ${run.status}, repository_no = ${run.repository_no}, bucket = null,
      in_progress = ${tx.json(run.in_progress)}, last_batch = ${run.last_batch}, batches = ${run.batches}, findings = ${run.findings}, moved = ${run.moved},
      restated = ${run.restated}, merged = ${run.merged}, split = ${run.split}, reopened = ${run.reopened}, updated_at = ${at}
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
      and (status in ('running', 'undoing') or (status = 'finished' and (batches > 0 or reopened > 0)))
    order by id desc
    limit 1`
  return later?.id ?? null
}

/** A run of an earlier version has its place in `bucket`, and counted only batches that wrote. */
function runColumns(db: Db) {
  const lastBatch = db`(greatest(run.last_batch, run.batches) + (run.bucket is not null)::int)`
  const place = db`jsonb_build_object('bucket', encode(run.bucket, 'hex'), 'batch', ${lastBatch})`
  return db`
    run.id, run.status, run.repository_no, ${lastBatch} as last_batch, run.batches, run.findings, run.moved,
    run.restated, run.merged, run.split, run.reopened,
    case
      when run.bucket is null
      then run.in_progress
      else run.in_progress || jsonb_build_object(run.repository_no::text, ${place})
    end as in_progress`
}

/** The rows with which regroups are undone, and then the regroups themselves. */
export const expiringRegroups: readonly Expiring[] = [
  expiringLog('issue_regroup_findings', 'finding_id'),
  expiringLog('issue_regroup_issues', 'issue_id'),
  defineExpiringRows({
    kind: 'issue_regroups',
    table: 'issue_regroups',
    key: ['id'],
    order: 'id',
    isExpired: (db, { before }) => db`
      ${hasEnded(db, before)}
      and not exists (
        select from issue_regroup_findings part
        where part.org_id = item.org_id
          and part.regroup_id = item.id
      )
      and not exists (
        select from issue_regroup_issues part
        where part.org_id = item.org_id
          and part.regroup_id = item.id
      )`,
  }),
]

/**
 * A regroup of which rows are missing must not be undone: it is marked before the first is removed.
 */
function expiringLog(table: string, part: string): Expiring {
  const rows: ExpiringTable = {
    kind: table,
    table,
    key: ['regroup_id', 'batch', part],
    order: 'regroup_id',
    isExpired: (db, { org_id, before }) => db`item.regroup_id = any(array(
      select item.id
      from issue_regroups item
      where item.org_id = ${org_id}
        and ${hasEnded(db, before)}
    ))`,
  }
  const expiring = defineExpiringRows(rows)
  return {
    ...expiring,
    async remove(tx, batch) {
      await markExpired(tx, batch.org_id, batch.before)
      return expiring.remove(tx, batch)
    },
  }
}

async function markExpired(tx: Tx, orgId: string, before: Date): Promise<void> {
  await tx`
    update issue_regroups item
    set status = 'expired'
    where item.org_id = ${orgId}
      and item.status <> 'expired'
      and ${hasEnded(tx, before)}`
}

function hasEnded(db: Db, before: Date) {
  return db`item.status in ('finished', 'undone', 'expired') and item.updated_at < ${before}`
}

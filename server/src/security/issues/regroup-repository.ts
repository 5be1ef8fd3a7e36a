import type { Tx } from '../../platform/db/sql.ts'
import { type Grouped, lockRepository } from '../writing/grouping.store.ts'
import type { IssueChange } from './grouping/describe-groups.ts'
import type { KnownRules } from './grouping/known-rules.ts'
import { findNextRepository, listNextBuckets } from './regroup.store.ts'
import { insertBatch } from './regroup-batch.store.ts'
import { mergeCounts, regroupBuckets, settleFollowers, settleRequests } from './regroup-buckets.ts'
import { lockRun, type Place, type RegroupRun, requireRun, updateRun } from './regroup-run.store.ts'

/** `taken` are the repositories that this process regroups at the moment. */
export type Regrouping = {
  orgId: string
  runId: string
  rules: KnownRules
  issuesAtOnce: number
  taken: Set<number>
}

/**
 * Takes the next repository of a run. If all were begun, it is one that an interrupted run or
 * another process has begun. Null if there is none: the run has ended, or ends when the other
 * repositories of this process are done.
 */
export async function reserveRepository(tx: Tx, { orgId, runId, taken }: Regrouping, at: Date): Promise<number | null> {
  const run = await lockRun(tx, orgId, runId, 'no key update')
  if (run?.status !== 'running') return null
  const next = await findNextRepository(tx, orgId, run.repository_no)
  const begun = Object.keys(run.in_progress).map(Number)
  if (next !== null) await updateRun(tx, orgId, { ...reach(run, next, null), repository_no: next }, at)
  else if (begun.length === 0) await updateRun(tx, orgId, { ...run, status: 'finished' }, at)
  const repositoryNo = next ?? begun.find((each) => !taken.has(each)) ?? null
  if (repositoryNo !== null) taken.add(repositoryNo)
  return repositoryNo
}

/** A run's progress after a batch, and what the batch changed. */
type Step = { run: RegroupRun; changes: readonly IssueChange[] }

/**
 * Regroups the next buckets of a repository. Null if there are none, or if the run has ended.
 * Several processes can take turns in a repository. The run is only locked at the end, so that they
 * regroup other repositories meanwhile.
 */
export async function regroupBatch(
  tx: Tx,
  regrouping: Regrouping,
  repositoryNo: number,
  at: Date,
): Promise<Step | null> {
  const { orgId, runId, rules, issuesAtOnce } = regrouping
  // Undoing the run waits for this batch.
  const held = await lockRun(tx, orgId, runId, 'key share')
  if (held?.status !== 'running') return null
  const { has_edits } = await lockRepository(tx, orgId, repositoryNo)
  const place = (await requireRun(tx, orgId, runId)).in_progress[repositoryNo]
  if (place === undefined) return null
  const scope = { org_id: orgId, repository_no: repositoryNo, has_edits, at }
  if (place.bucket === null) await settleRequests(tx, scope)
  const buckets = await listNextBuckets(tx, scope, place.bucket, issuesAtOnce)
  const last = buckets.at(-1)
  if (last === undefined) {
    await advance(tx, regrouping, at, (run) => leave(run, repositoryNo))
    return null
  }
  const batch = { org_id: orgId, regroup_id: runId, batch: place.batch, repository_no: repositoryNo }
  const remember = (grouped: Grouped) => insertBatch(grouped, batch)
  const done = await regroupBuckets(tx, scope, { buckets, rules, cause: { by: 'rules' }, remember })
  const reopened = await settleFollowers(tx, scope, { buckets, regroupId: runId })
  const run = await advance(tx, regrouping, at, (before) =>
    mergeCounts({ ...reach(before, repositoryNo, last), reopened: before.reopened + reopened }, done),
  )
  return { run, changes: done.changes }
}

async function advance(
  tx: Tx,
  { orgId, runId }: Regrouping,
  at: Date,
  change: (run: RegroupRun) => RegroupRun,
): Promise<RegroupRun> {
  const after = change((await lockRun(tx, orgId, runId, 'no key update')) as RegroupRun)
  await updateRun(tx, orgId, after, at)
  return after
}

/** The batches of a repository have ascending numbers, because the last one is undone first. */
function reach(run: RegroupRun, repositoryNo: number, bucket: string | null): RegroupRun {
  const place: Place = { bucket, batch: run.last_batch + 1 }
  return { ...run, last_batch: place.batch, in_progress: { ...run.in_progress, [repositoryNo]: place } }
}

function leave(run: RegroupRun, repositoryNo: number): RegroupRun {
  const { [repositoryNo]: _, ...others } = run.in_progress
  return { ...run, in_progress: others }
}

import type { Tx } from '../../../platform/db/sql.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { newUuid } from '../../../platform/ids.ts'
import type { Services } from '../../../services.ts'
import type { IssueChange } from '../grouping/issue-change.ts'
import { lockRepository } from '../writing/grouping.store.ts'
import { nextBuckets, nextRepository } from './regroup.store.ts'
import { type Regrouped, regroupBuckets } from './regroup-buckets.ts'
import { rememberBatch } from './regroup-log.store.ts'
import { lockRun, openRun, type RegroupRun, updateRun } from './regroup-run.store.ts'

/** What is grouped in one short transaction. */
export const ISSUES_AT_ONCE = 5000

/** Takes what each batch did, and how far the run is. */
export type Follow = (run: RegroupRun, changes: readonly IssueChange[]) => void

/**
 * Computes every group of an organization with the rules of today, repository by repository in short transactions, and writes
 * what differs. A run that was interrupted goes on where it was. Throws 409 where one is being undone.
 */
export async function regroupOrganization(
  services: Services,
  orgId: string,
  follow: Follow,
  issuesAtOnce = ISSUES_AT_ONCE,
): Promise<RegroupRun> {
  const { sql, clock } = services
  let run = await openRun(sql, orgId, newUuid(clock.now()), clock.now())
  if (run.status === 'undoing')
    throw new ApiError(
      409,
      'regroup_undone',
      `The undoing of regroup ${run.id} is not finished: repeat --undo ${run.id}`,
    )
  while (run.status === 'running') {
    const { after, changes } = await sql.begin((tx) => regroupBatch(tx, orgId, run.id, issuesAtOnce, clock.now()))
    run = after
    follow(run, changes)
  }
  return run
}

type Step = { after: RegroupRun; changes: readonly IssueChange[] }

/** The run's row is read again and locked: whoever else works on it has its turn before or after. */
async function regroupBatch(tx: Tx, orgId: string, runId: string, issuesAtOnce: number, at: Date): Promise<Step> {
  const run = (await lockRun(tx, orgId, runId)) as RegroupRun
  if (run.status !== 'running') return { after: run, changes: [] }
  const repositoryNo = run.bucket === null ? await nextRepository(tx, orgId, run.repository_no) : run.repository_no
  const step = repositoryNo === null ? finished(run) : await regroupNext(tx, orgId, run, repositoryNo, issuesAtOnce, at)
  await updateRun(tx, orgId, step.after, at)
  return step
}

function finished(run: RegroupRun): Step {
  return { after: { ...run, status: 'finished' }, changes: [] }
}

async function regroupNext(
  tx: Tx,
  orgId: string,
  run: RegroupRun,
  repositoryNo: number,
  issuesAtOnce: number,
  at: Date,
): Promise<Step> {
  await lockRepository(tx, orgId, repositoryNo)
  const buckets = await nextBuckets(tx, orgId, repositoryNo, run.bucket, issuesAtOnce)
  const last = buckets.at(-1)
  if (last === undefined) return { after: { ...run, repository_no: repositoryNo, bucket: null }, changes: [] }
  const batch = { org_id: orgId, regroup_id: run.id, batch: run.batches + 1, repository_no: repositoryNo }
  const scope = { org_id: orgId, repository_no: repositoryNo, at }
  const done = await regroupBuckets(tx, scope, buckets, { by: 'rules' }, (grouped) => rememberBatch(grouped, batch))
  return { after: { ...addUp(run, done), repository_no: repositoryNo, bucket: last }, changes: done.changes }
}

/** Batches that wrote nothing are not counted. */
export function addUp(run: RegroupRun, { findings, moved, restated, issues, changes }: Regrouped): RegroupRun {
  const merged = changes.filter(({ event }) => event === 'merged').length
  return {
    ...run,
    batches: run.batches + (issues > 0 ? 1 : 0),
    findings: run.findings + findings,
    moved: run.moved + moved,
    restated: run.restated + restated,
    merged: run.merged + merged,
    split: run.split + changes.length - merged,
  }
}

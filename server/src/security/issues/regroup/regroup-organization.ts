import type { Tx } from '../../../platform/db/sql.ts'
import { rolledBack } from '../../../platform/db/transaction.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { newUuid } from '../../../platform/ids.ts'
import type { Services } from '../../../services.ts'
import type { IssueChange } from '../grouping/issue-change.ts'
import { KnownRules } from '../grouping/known-rules.ts'
import { lockRepository, type MergeScope } from '../writing/grouping.store.ts'
import { nextBuckets, nextRepository } from './regroup.store.ts'
import { type Regrouped, regroupBuckets } from './regroup-buckets.ts'
import { rememberBatch } from './regroup-log.store.ts'
import { lockRun, openRun, type RegroupRun, updateRun } from './regroup-run.store.ts'

/** About as many issues as one short transaction can regroup. */
const ISSUES_AT_ONCE = 5000

/** Called after each batch with the run's progress and the batch's changes. */
type Follow = (run: RegroupRun, changes: readonly IssueChange[]) => void

/**
 * Regroups all findings of an organization by the current rules, repository by repository in short
 * transactions, and writes what differs. An interrupted run continues where it stopped. Throws 409
 * if a run is being undone.
 */
export async function regroupOrganization(
  services: Services,
  orgId: string,
  follow: Follow,
  issuesAtOnce = ISSUES_AT_ONCE,
): Promise<RegroupRun> {
  const { sql, clock } = services
  const rules = new KnownRules(services.ruleMap)
  let run = await openRun(sql, orgId, newUuid(clock.now()), clock.now())
  if (run.status === 'undoing') {
    const message = `Regroup ${run.id} is only partly undone. Run --undo ${run.id} again to finish it.`
    throw new ApiError(409, 'regroup_undone', message)
  }
  while (run.status === 'running') {
    const { after, changes } = await sql.begin((tx) =>
      regroupBatch(tx, run.id, { orgId, rules, issuesAtOnce, at: clock.now() }),
    )
    run = after
    follow(run, changes)
  }
  return run
}

type BatchOptions = { orgId: string; rules: KnownRules; issuesAtOnce: number; at: Date }
type Step = { after: RegroupRun; changes: readonly IssueChange[] }

/** Locks and reads the run again, so that several processes can take turns. */
async function regroupBatch(tx: Tx, runId: string, options: BatchOptions): Promise<Step> {
  const { orgId, at } = options
  const run = (await lockRun(tx, orgId, runId)) as RegroupRun
  if (run.status !== 'running') return { after: run, changes: [] }
  const repositoryNo = run.bucket === null ? await nextRepository(tx, orgId, run.repository_no) : run.repository_no
  const step = repositoryNo === null ? finished(run) : await regroupNext(tx, run, repositoryNo, options)
  await updateRun(tx, orgId, step.after, at)
  return step
}

function finished(run: RegroupRun): Step {
  return { after: { ...run, status: 'finished' }, changes: [] }
}

async function regroupNext(tx: Tx, run: RegroupRun, repositoryNo: number, options: BatchOptions): Promise<Step> {
  const { orgId, rules, issuesAtOnce, at } = options
  const { has_edits } = await lockRepository(tx, orgId, repositoryNo)
  const scope = { org_id: orgId, repository_no: repositoryNo, has_edits, at }
  const buckets = await nextBuckets(tx, scope, run.bucket, issuesAtOnce)
  const last = buckets.at(-1)
  if (last === undefined) return { after: { ...run, repository_no: repositoryNo, bucket: null }, changes: [] }
  const batch = { org_id: orgId, regroup_id: run.id, batch: run.batches + 1, repository_no: repositoryNo }
  const done = await regroupBuckets(tx, scope, {
    buckets,
    rules,
    cause: { by: 'rules' },
    remember: (grouped) => rememberBatch(grouped, batch),
  })
  return { after: { ...addCounts(run, done), repository_no: repositoryNo, bucket: last }, changes: done.changes }
}

/** A batch that wrote nothing is not counted. */
function addCounts(run: RegroupRun, { findings, moved, restated, issues, changes }: Regrouped): RegroupRun {
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

const EMPTY_RUN: RegroupRun = {
  ...{ id: '', status: 'running', repository_no: 0, bucket: null, batches: 0 },
  ...{ findings: 0, moved: 0, restated: 0, merged: 0, split: 0 },
}

/**
 * Shows what a new `regroupOrganization` would change. Each repository is regrouped in one
 * transaction that is rolled back. Reports of the repository wait for it.
 */
export async function previewRegroup(
  { sql, clock, ruleMap }: Services,
  orgId: string,
  follow: Follow,
): Promise<RegroupRun> {
  const rules = new KnownRules(ruleMap)
  let run = EMPTY_RUN
  for (let next = await nextRepository(sql, orgId, 0); next !== null; next = await nextRepository(sql, orgId, next)) {
    const repository = { org_id: orgId, repository_no: next, at: clock.now() }
    const start = { ...run, repository_no: next, bucket: null }
    run = await rolledBack(sql, (tx) => previewRepository(tx, { repository, rules }, start, follow))
  }
  return { ...run, status: 'finished' }
}

type Preview = { repository: Omit<MergeScope, 'has_edits'>; rules: KnownRules }

async function previewRepository(
  tx: Tx,
  { repository, rules }: Preview,
  start: RegroupRun,
  follow: Follow,
): Promise<RegroupRun> {
  const { has_edits } = await lockRepository(tx, repository.org_id, repository.repository_no)
  const scope = { ...repository, has_edits }
  let run = start
  for (;;) {
    const buckets = await nextBuckets(tx, scope, run.bucket, ISSUES_AT_ONCE)
    const last = buckets.at(-1)
    if (last === undefined) return run
    const done = await regroupBuckets(tx, scope, { buckets, rules, cause: { by: 'rules' } })
    run = { ...addCounts(run, done), bucket: last }
    follow(run, done.changes)
  }
}

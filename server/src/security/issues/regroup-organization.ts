import { regroupUndone } from '../../errors/commands.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { runRolledBack } from '../../platform/db/transaction.ts'
import { createUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { lockRepository, type MergeScope } from '../writing/grouping.store.ts'
import type { IssueChange } from './grouping/describe-groups.ts'
import { KnownRules } from './grouping/known-rules.ts'
import { findNextRepository, listNextBuckets } from './regroup.store.ts'
import { mergeCounts, NO_COUNTS, type RegroupCounts, regroupBuckets, settleFollowers } from './regroup-buckets.ts'
import { type Regrouping, regroupBatch, reserveRepository } from './regroup-repository.ts'
import { type RegroupRun, requireRun, upsertRun } from './regroup-run.store.ts'

/** About as many issues as one short transaction can regroup. */
export const ISSUES_AT_ONCE = 5000

/**
 * Repositories that a process regroups at the same time, each on a connection of its own: while
 * PostgreSQL writes the findings of one, another one is grouped.
 */
export const REPOSITORIES_AT_ONCE = 3

/** Called after each batch with the run's progress and the batch's changes. */
type Follow = (run: RegroupRun, changes: readonly IssueChange[]) => void

/**
 * Regroups all findings of an organization by the current rules, in short transactions, and writes
 * what differs. An interrupted run continues where it stopped. Throws 409 if a run is being undone.
 */
export async function regroupOrganization(
  services: Services,
  orgId: string,
  follow: Follow,
  issuesAtOnce = ISSUES_AT_ONCE,
): Promise<RegroupRun> {
  const { sql, clock } = services
  const { id, status } = await upsertRun(sql, orgId, createUuid(clock.now()), clock.now())
  if (status === 'undoing') throw regroupUndone(id)
  const rules = new KnownRules(services.ruleMap)
  const regrouping = { orgId, runId: id, rules, issuesAtOnce, taken: new Set<number>() }
  await besideEachOther((failed) => regroupRepositories(services, regrouping, follow, failed))
  return requireRun(sql, orgId, id)
}

/** If one fails, the others stop after their batch: nothing goes on when this function throws. */
async function besideEachOther(work: (failed: AbortSignal) => Promise<void>): Promise<void> {
  const failed = new AbortController()
  const working = async () => {
    try {
      await work(failed.signal)
    } catch (error) {
      failed.abort(error)
    }
  }
  await Promise.all(Array.from({ length: REPOSITORIES_AT_ONCE }, working))
  failed.signal.throwIfAborted()
}

/** Regroups repositories, one after the other, until none is left. */
async function regroupRepositories(
  { sql, clock }: Services,
  regrouping: Regrouping,
  follow: Follow,
  failed: AbortSignal,
): Promise<void> {
  const take = () => sql.begin((tx) => reserveRepository(tx, regrouping, clock.now()))
  for (let next = await take(); next !== null && !failed.aborted; next = await take()) {
    const repositoryNo = next
    const regroup = () => sql.begin((tx) => regroupBatch(tx, regrouping, repositoryNo, clock.now()))
    for (let step = await regroup(); step !== null; step = await regroup()) {
      follow(step.run, step.changes)
      if (failed.aborted) return
    }
    regrouping.taken.delete(repositoryNo)
  }
}

/** Called after each batch with the counts so far and the batch's changes. */
type FollowPreview = (counts: RegroupCounts, changes: readonly IssueChange[]) => void

/**
 * Shows what a new `regroupOrganization` would change. Each repository is regrouped in one
 * transaction that is rolled back. Reports of the repository wait for it.
 */
export async function measureRegroup(
  { sql, clock, ruleMap }: Services,
  orgId: string,
  follow: FollowPreview,
): Promise<RegroupCounts> {
  const rules = new KnownRules(ruleMap)
  let counts = NO_COUNTS
  for (
    let next = await findNextRepository(sql, orgId, 0);
    next !== null;
    next = await findNextRepository(sql, orgId, next)
  ) {
    const repository = { org_id: orgId, repository_no: next, at: clock.now() }
    const start = counts
    counts = await runRolledBack(sql, (tx) => previewRepository(tx, { repository, rules }, start, follow))
  }
  return counts
}

type Preview = { repository: Omit<MergeScope, 'has_edits'>; rules: KnownRules }

async function previewRepository(
  tx: Tx,
  { repository, rules }: Preview,
  start: RegroupCounts,
  follow: FollowPreview,
): Promise<RegroupCounts> {
  const { has_edits } = await lockRepository(tx, repository.org_id, repository.repository_no)
  const scope = { ...repository, has_edits }
  let counts = start
  let after: string | null = null
  for (;;) {
    const buckets: string[] = await listNextBuckets(tx, scope, after, ISSUES_AT_ONCE)
    after = buckets.at(-1) ?? null
    if (after === null) return counts
    const done = await regroupBuckets(tx, scope, { buckets, rules, cause: { by: 'rules' } })
    const reopened = await settleFollowers(tx, scope, { buckets, regroupId: null })
    counts = mergeCounts({ ...counts, reopened: counts.reopened + reopened }, done)
    follow(counts, done.changes)
  }
}

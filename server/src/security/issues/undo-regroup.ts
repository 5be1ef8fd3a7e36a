import { expiredRegroup, laterRegroup } from '../../errors/commands.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { missing } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { lockIntel } from '../intel/intel-source.store.ts'
import { findEdits } from '../writing/edit.store.ts'
import {
  findReopenedRepository,
  updateRestoredDismissals,
  updateReturnedFindings,
} from '../writing/finding-writing.store.ts'
import { lockRepository, lockTriaged, type MergeScope } from '../writing/grouping.store.ts'
import { updateRefreshedIssues, updateThreats } from '../writing/issue-writing.store.ts'
import { listEditedMembers } from '../writing/write-groups.ts'
import { refreshTriaged } from '../writing/write-triage.ts'
import type { Member } from './grouping/grouping-facts.ts'
import { KnownRules } from './grouping/known-rules.ts'
import { type Cluster, computeClusters, splitBetween } from './grouping/pins.ts'
import {
  type Batch,
  buildBatchCondition,
  deleteBatch,
  deleteMadeIssues,
  findLastBatch,
  listBuckets,
  updateEmptiedIssues,
  updateReturnedIssues,
} from './regroup-batch.store.ts'
import { regroupBuckets } from './regroup-buckets.ts'
import { findLaterRun, lockRun, type RegroupRun, updateRun } from './regroup-run.store.ts'

/**
 * Undoes a regroup batch by batch, the last one first, each in its own transaction. It restores
 * issues and the findings' reasons. Later changes by reports and imports stay. An interrupted call
 * continues where it stopped. Throws 404 for an unknown run, and 409 if a later run has not been
 * undone, or the run has expired.
 */
export async function undoRegroup(
  services: Services,
  orgId: string,
  runId: string,
  follow: (run: RegroupRun) => void,
): Promise<RegroupRun> {
  const { sql, clock, ruleMap } = services
  let run = await sql.begin((tx) => startUndoing(tx, orgId, runId, clock.now()))
  while (run.status === 'undoing') {
    const rules = new KnownRules(ruleMap)
    run = await sql.begin((tx) => undoBatch(tx, orgId, runId, { rules, at: clock.now() }))
    follow(run)
  }
  return run
}

async function startUndoing(tx: Tx, orgId: string, runId: string, at: Date): Promise<RegroupRun> {
  // Batches in progress hold the run: they end after this transaction, and before the first undo.
  const run = await lockRun(tx, orgId, runId, 'no key update')
  if (run === null) throw missing(`Regroup "${runId}" does not exist.`)
  if (run.status === 'expired') throw expiredRegroup(runId)
  const later = await findLaterRun(tx, orgId, runId)
  if (later !== null) throw laterRegroup(later)
  const undoing: RegroupRun = run.status === 'undone' ? run : { ...run, status: 'undoing' }
  await updateRun(tx, orgId, undoing, at)
  return undoing
}

type Undoing = { rules: KnownRules; at: Date }

async function undoBatch(tx: Tx, orgId: string, runId: string, undoing: Undoing): Promise<RegroupRun> {
  const run = (await lockRun(tx, orgId, runId, 'update')) as RegroupRun
  if (run.status !== 'undoing') return run
  const batch = await findLastBatch(tx, orgId, runId)
  if (batch !== null) await restoreBatch(tx, batch, undoing)
  const isDone = batch === null && !(await restoreDismissals(tx, orgId, runId, undoing.at))
  const after: RegroupRun = {
    ...run,
    status: isDone ? 'undone' : 'undoing',
    batches: batch === null ? run.batches : run.batches - 1,
  }
  await updateRun(tx, orgId, after, undoing.at)
  return after
}

/** Restores some dismissals of one repository. False if there are none. */
async function restoreDismissals(tx: Tx, orgId: string, regroupId: string, at: Date): Promise<boolean> {
  const repositoryNo = await findReopenedRepository(tx, orgId, regroupId)
  if (repositoryNo === null) return false
  await lockTriaged(tx, orgId, [repositoryNo])
  const issueIds = await updateRestoredDismissals(tx, orgId, { regroupId, repositoryNo }, at)
  await refreshTriaged(tx, orgId, issueIds, at)
  return true
}

async function restoreBatch(tx: Tx, batch: Batch, { rules, at }: Undoing): Promise<void> {
  const { has_edits } = await lockRepository(tx, batch.org_id, batch.repository_no)
  await lockIntel(tx)
  await updateReturnedFindings(tx, buildBatchCondition(tx, batch))
  await updateReturnedIssues(tx, batch, at)
  await deleteMadeIssues(tx, batch, at)
  await updateEmptiedIssues(tx, batch, at)
  const issueIds = await deleteBatch(tx, batch)
  if (has_edits) await restoreEdits(tx, { ...batch, has_edits, at }, issueIds, rules)
  await updateThreats(tx, batch.org_id, issueIds)
  await updateRefreshedIssues(tx, batch.org_id, issueIds, at)
}

/**
 * After a regroup was undone: regroups the findings of these issues by the current rules if a
 * person
 * has split or merged them since, and they are no longer apart or together.
 */
async function restoreEdits(tx: Tx, scope: MergeScope, issueIds: readonly string[], rules: KnownRules): Promise<void> {
  const near = await listBuckets(tx, scope.org_id, issueIds)
  const { members, buckets } = await listEditedMembers(tx, scope, near, rules)
  const edits = await findEdits(
    tx,
    scope.org_id,
    members.flatMap(({ id }) => id ?? []),
  )
  if (areBroken(members, computeClusters(edits)))
    await regroupBuckets(tx, scope, { buckets, rules, cause: { by: 'rules' } })
}

function areBroken(members: readonly Member[], clusters: ReadonlyMap<string, Cluster>): boolean {
  const byIssue = new Map<string, Set<Cluster>>()
  const issueOf = new Map<Cluster, string>()
  for (const { id, issue_id } of members) {
    const cluster = clusters.get(id ?? '')
    if (cluster === undefined || issue_id === null) continue
    if ((issueOf.get(cluster) ?? issue_id) !== issue_id) return true
    issueOf.set(cluster, issue_id)
    byIssue.set(issue_id, (byIssue.get(issue_id) ?? new Set()).add(cluster))
  }
  return byIssue.values().some((inIssue) => splitBetween(inIssue, inIssue) !== null)
}

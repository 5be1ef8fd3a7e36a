import { expiredRegroup, laterRegroup } from '../../../errors/commands.ts'
import type { Tx } from '../../../platform/db/sql.ts'
import { missing } from '../../../platform/http/errors.ts'
import type { Services } from '../../../services.ts'
import { lockIntel } from '../../intel/intel-source.store.ts'
import { updateReturnedFindings } from '../../triage/writing/triaged-finding.store.ts'
import { KnownRules } from '../grouping/known-rules.ts'
import { lockRepository } from '../writing/grouping.store.ts'
import { updateRefreshedIssues } from '../writing/issue-refresh.store.ts'
import { updateThreats } from '../writing/issue-threat.store.ts'
import { restoreEdits } from './keep-edits.ts'
import { type Batch, buildBatchCondition, deleteBatch, findLastBatch } from './regroup-log.store.ts'
import { findLaterRun, lockRun, type RegroupRun, updateRun } from './regroup-run.store.ts'
import { deleteMadeIssues, updateEmptiedIssues, updateReturnedIssues } from './undo-batch.store.ts'

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
  const after: RegroupRun = batch === null ? { ...run, status: 'undone' } : { ...run, batches: run.batches - 1 }
  await updateRun(tx, orgId, after, undoing.at)
  return after
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

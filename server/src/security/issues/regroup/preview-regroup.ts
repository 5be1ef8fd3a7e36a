import type { Tx } from '../../../platform/db/sql.ts'
import { runRolledBack } from '../../../platform/db/transaction.ts'
import type { Services } from '../../../services.ts'
import type { IssueChange } from '../grouping/issue-change.ts'
import { KnownRules } from '../grouping/known-rules.ts'
import { lockRepository, type MergeScope } from '../writing/grouping.store.ts'
import { findNextRepository, listNextBuckets } from './regroup.store.ts'
import { regroupBuckets } from './regroup-buckets.ts'
import { mergeCounts, NO_COUNTS, type RegroupCounts } from './regroup-counts.ts'
import { ISSUES_AT_ONCE } from './regroup-organization.ts'

/** Called after each batch with the counts so far and the batch's changes. */
type Follow = (counts: RegroupCounts, changes: readonly IssueChange[]) => void

/**
 * Shows what a new `regroupOrganization` would change. Each repository is regrouped in one
 * transaction that is rolled back. Reports of the repository wait for it.
 */
export async function measureRegroup(
  { sql, clock, ruleMap }: Services,
  orgId: string,
  follow: Follow,
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
  follow: Follow,
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
    counts = mergeCounts(counts, done)
    follow(counts, done.changes)
  }
}

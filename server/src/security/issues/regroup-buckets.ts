import type { Tx } from '../../platform/db/sql.ts'
import { isTracked } from '../../repositories/repository-identity.ts'
import { listEndedFollowers } from '../reconcile/end-dismissals.ts'
import { listUpgradedStreams, updateUntrackedStreams } from '../reconcile/stream.store.ts'
import type { RuleMap } from '../vocabulary/rule-map.ts'
import { findEdits } from '../writing/edit.store.ts'
import { updateEndedDismissals } from '../writing/finding-writing.store.ts'
import {
  deleteGrouped,
  type Grouped,
  listMembers,
  lockCanonicalNames,
  type MergeScope,
} from '../writing/grouping.store.ts'
import { insertHistory, updateRefreshedIssues, updateThreats } from '../writing/issue-writing.store.ts'
import { assignCurrentBucket, listEditedMembers, writeGroups } from '../writing/write-groups.ts'
import { refreshTriaged } from '../writing/write-triage.ts'
import { type Cause, type DescribedGroup, describeGroups, type IssueChange } from './grouping/describe-groups.ts'
import { groupMembers, isSplit, restoreMergedIssues } from './grouping/group-members.ts'
import type { Member } from './grouping/grouping-facts.ts'
import { KnownRules } from './grouping/known-rules.ts'
import { listIssues, listMerged } from './regroup.store.ts'

/** `remember` is called before anything is written. */
type BucketsToRegroup = {
  buckets: readonly string[]
  cause: Cause
  rules: KnownRules
  remember?: (grouped: Grouped) => Promise<void>
}

/**
 * `findings` counts those that were regrouped: a finding that moves to a later bucket counts there.
 * `moved` findings have another issue, `restated` ones another reason. `issues` were written.
 */
type Regrouped = {
  findings: number
  moved: number
  restated: number
  issues: number
  changes: IssueChange[]
}

/**
 * Groups the findings of some buckets by the current rules and aliases, and writes what differs.
 * The repository must be locked.
 */
export async function regroupBuckets(
  tx: Tx,
  scope: MergeScope,
  { buckets, cause, rules, remember }: BucketsToRegroup,
): Promise<Regrouped> {
  const orgId = scope.org_id
  const { found, members, read } = await (scope.has_edits ? readEdited : readByRules)(tx, scope, buckets, rules)
  const canonicalId = await lockCanonicalNames(tx, members)
  const findingIds = members.flatMap(({ id }) => id ?? [])
  const edits = scope.has_edits ? await findEdits(tx, orgId, findingIds) : null
  const stored = await listIssues(tx, scope, read)
  const grouped = groupMembers(members, { canonicalId, rules }, edits)
  const splitFrom = grouped.filter(isSplit).map((group) => group.split_from)
  const groups = restoreMergedIssues(grouped, await listMerged(tx, orgId, splitFrom))
  const described = describeGroups(groups, stored, canonicalId, scope.at)
  const written = await writeGroups(tx, scope, { groups, described, stored, cause, ...(remember && { remember }) })
  const newIssues = described.flatMap(({ group, issue }) => (group.issue_id === null ? issue.id : []))
  await updateRefreshedIssues(tx, orgId, [...written.touched, ...newIssues], scope.at)
  await deleteGrouped(written.grouped)
  return {
    findings: countFinished(found, buckets),
    ...countMoves(described),
    issues: described.length,
    changes: written.changes,
  }
}

/** `found` are counted as regrouped. `read` are the buckets whose findings are all in `members`. */
type MembersToRegroup = { found: Member[]; members: Member[]; read: readonly string[] }
type ReadMembers = (...of: [Tx, MergeScope, readonly string[], KnownRules]) => Promise<MembersToRegroup>

/**
 * By the current rules a finding may belong to another bucket. Its findings are read too, and
 * regrouped again later.
 */
const readByRules: ReadMembers = async (tx, { org_id: orgId, repository_no: repositoryNo }, buckets, rules) => {
  const found = (await listMembers(tx, orgId, repositoryNo, buckets)).map((member) =>
    assignCurrentBucket(member, rules),
  )
  const others = [...new Set(found.map(({ bucket }) => bucket))].filter(isNotIn(buckets))
  const members = [...found, ...(await listMembers(tx, orgId, repositoryNo, others))]
  return { found, members, read: [...buckets, ...others] }
}

const readEdited: ReadMembers = async (tx, scope, buckets, rules) => {
  const { members, buckets: read } = await listEditedMembers(tx, scope, buckets, rules)
  const isOther = isNotIn(buckets)
  return { found: members.filter(({ bucket }) => !isOther(bucket)), members, read }
}

function countFinished(found: readonly Member[], buckets: readonly string[]): number {
  const last = buckets.at(-1) ?? ''
  return found.filter(({ bucket }) => bucket <= last).length
}

function isNotIn(buckets: readonly string[]): (bucket: string) => boolean {
  const known = new Set(buckets)
  return (bucket) => !known.has(bucket)
}

function countMoves(described: readonly DescribedGroup[]): { moved: number; restated: number } {
  const all = described.flatMap(({ group, issue }) => group.members.map((grouped) => ({ ...grouped, issue })))
  const isMoved = ({ member, issue }: (typeof all)[number]) => member.issue_id !== issue.id
  const isRestated = ({ member, reason }: (typeof all)[number]) =>
    member.grouping_code !== reason.code || member.grouping_detail !== reason.detail
  return {
    moved: all.filter(isMoved).length,
    restated: all.filter((grouped) => !isMoved(grouped) && isRestated(grouped)).length,
  }
}

/** What a regroup has done. Only batches that wrote something are counted as `batches`. */
export type RegroupCounts = {
  batches: number
  findings: number
  moved: number
  restated: number
  merged: number
  split: number
  /** Findings whose dismissal only followed others with other marks. */
  reopened: number
}

export const NO_COUNTS: RegroupCounts = {
  batches: 0,
  findings: 0,
  moved: 0,
  restated: 0,
  merged: 0,
  split: 0,
  reopened: 0,
}

/**
 * Ends that what was stored of pull and merge requests opens issues (decisions §8, M6). Requests of
 * connected repositories never did.
 */
export async function settleRequests(tx: Tx, { org_id, repository_no, at }: MergeScope): Promise<void> {
  const streams = await listUpgradedStreams(tx, org_id, repository_no)
  const ids = streams.filter(({ git_ref }) => !isTracked(git_ref, null)).map(({ id }) => id)
  await updateUntrackedStreams(tx, org_id, ids, at)
}

/** Opens what only followed a dismissal, with other marks. Returns the number of findings. */
export async function settleFollowers(
  tx: Tx,
  scope: MergeScope,
  { buckets, regroupId }: { buckets: readonly string[]; regroupId: string | null },
): Promise<number> {
  const ended = await listEndedFollowers(tx, scope, buckets)
  const issueIds = await updateEndedDismissals(tx, scope.org_id, ended, { at: scope.at, regroupId })
  await refreshTriaged(tx, scope.org_id, issueIds, scope.at)
  return ended.length
}

export function mergeCounts<Counts extends RegroupCounts>(
  counts: Counts,
  { findings, moved, restated, issues, changes }: Regrouped,
): Counts {
  const merged = changes.filter(({ event }) => event === 'merged').length
  return {
    ...counts,
    batches: counts.batches + (issues > 0 ? 1 : 0),
    findings: counts.findings + findings,
    moved: counts.moved + moved,
    restated: counts.restated + restated,
    merged: counts.merged + merged,
    split: counts.split + changes.length - merged,
  }
}

/** Issues whose findings have moved, with what is to be recorded in their history. */
type Edited = { issueIds: readonly string[]; buckets: readonly string[]; changes: readonly IssueChange[] }

/**
 * Brings the reasons of findings and the fields of issues in line, after an edit was stored or
 * undone
 * and the findings were moved. The caller refreshes the status of the issues.
 */
export async function settleIssues(
  tx: Tx,
  scope: MergeScope,
  ruleMap: RuleMap,
  { issueIds, buckets, changes }: Edited,
): Promise<void> {
  await insertHistory(tx, scope.org_id, changes, scope.at)
  const rules = new KnownRules(ruleMap)
  await regroupBuckets(tx, scope, { buckets: [...new Set(buckets)], rules, cause: { by: 'rules' } })
  await updateThreats(tx, scope.org_id, issueIds)
}

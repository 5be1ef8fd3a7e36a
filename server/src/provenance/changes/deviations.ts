import { getApprovals, getApprovalsByOthers, getMergeCommits, isByAuthor } from './approvals.ts'
import { type BranchRules, type ChangeCommit, type ChangeRecord, DEVIATIONS, type Deviation } from './change-record.ts'

/** A record before its deviations are known. */
export type UnratedRecord = Omit<ChangeRecord, 'deviations'>

const FAILED = ['failure', 'timed_out']
/** Code hosts accept a required check that was skipped. */
const PASSED = ['success', 'skipped']

const RULES: Record<Deviation, (record: UnratedRecord) => boolean> = {
  direct_push: ({ landed_by }) => landed_by === 'push',
  self_approved: isSelfApproved,
  no_review: (record) => record.pull_request !== null && getApprovals(record).length === 0,
  stale_review: isReviewStale,
  check_failed: hasFailedCheck,
  bypassed_protection: (record) => record.branch_rules !== null && isBypassed(record, record.branch_rules),
  unsigned_commit: ({ commits }) => commits.list.some(isUnverified),
}

/**
 * How a change deviates from a reviewed and checked merge (provenance.md §1), in the order of
 * `DEVIATIONS`. A fact that is unknown never makes a deviation.
 */
export function computeDeviations(record: UnratedRecord): Deviation[] {
  return DEVIATIONS.filter((deviation) => RULES[deviation](record))
}

function isSelfApproved(record: UnratedRecord): boolean {
  const approvals = getApprovals(record)
  return approvals.length > 0 && approvals.every((approval) => isByAuthor(approval, record))
}

/** Approvals by the authors of the change are compared only if there are no others. */
function isReviewStale(record: UnratedRecord): boolean {
  const approvals = getApprovals(record)
  const independent = approvals.filter((approval) => !isByAuthor(approval, record))
  const counted = independent.length > 0 ? independent : approvals
  return counted.length > 0 && counted.every(({ stale }) => stale)
}

function hasFailedCheck({ commits, checks, runs }: UnratedRecord): boolean {
  const failed = checks.filter(({ status }) => FAILED.includes(status))
  return (
    runs.some(({ status }) => FAILED.includes(status)) ||
    failed.some(({ commit_sha }) => commit_sha === commits.merge) ||
    failed.some(({ commit_sha, required }) => commit_sha === commits.head && required === true)
  )
}

function isBypassed(record: UnratedRecord, rules: BranchRules): boolean {
  return (
    isPushedDespite(record, rules) ||
    lacksReview(record, rules) ||
    rules.required_checks.some((name) => !hasPassed(record, name)) ||
    (rules.requires_signatures && landedCommits(record).some(isUnverified))
  )
}

function isPushedDespite({ landed_by, forced }: UnratedRecord, rules: BranchRules): boolean {
  const isRefused = rules.requires_pull_request || rules.requires_merge_queue
  return (landed_by === 'push' && isRefused) || (forced && rules.blocks_force_pushes)
}

/**
 * Stale approvals count, because a code host that must not accept them dismisses them. The
 * deviation `stale_review` states them.
 */
function lacksReview(record: UnratedRecord, rules: BranchRules): boolean {
  if (record.pull_request === null) return false
  const lacksOwner = record.code_owners?.rules.some(({ satisfied }) => satisfied === false) ?? false
  return (
    getApprovalsByOthers(record).length < rules.required_approvals || (rules.requires_code_owner_review && lacksOwner)
  )
}

/** Hosts check the newest commit of a pull request, and merge queues the commit that lands. */
function hasPassed({ commits, checks }: UnratedRecord, required: string): boolean {
  return checks.some(
    ({ name, status, commit_sha }) =>
      name === required && PASSED.includes(status) && [commits.head, commits.merge].includes(commit_sha),
  )
}

/**
 * The listed commits that are known to be on the branch. The commits of a pull request may have
 * been replaced by those that the merge created.
 */
function landedCommits({ landed_by, commits }: UnratedRecord): ChangeCommit[] {
  const areAll = landed_by === 'push' || commits.merge === commits.head
  return areAll ? commits.list : getMergeCommits(commits)
}

function isUnverified({ signature }: ChangeCommit): boolean {
  return signature !== null && !signature.verified
}

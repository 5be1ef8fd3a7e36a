import type { LandedPullRequest, LandedPush, LandedReview } from '../../ci/changes/landed-change.store.ts'
import type { CheckResult, RunResult } from '../../ci/evidence/commit-evidence.store.ts'
import { parseCodeOwners } from '../../repositories/code-owners.parser.ts'
import { getApprovalsByOthers } from './approvals.ts'
import type { BranchRules, ChangeRecord, RecordedResults } from './change-record.ts'
import { computeOwners } from './code-owners.ts'
import { computeDeviations } from './deviations.ts'
import type { Landing } from './landing.store.ts'
import { DEADLINE_MS } from './landing-schedule.ts'
import type { HostFacts } from './read-landing.ts'

/** Everything that a record is made of. `push` is the push that contained the commit, if known. */
export type ChangeFacts = {
  id: string
  landing: Landing
  merge_sha: string
  repository: ChangeRecord['repository']
  pull_request: LandedPullRequest | null
  push: LandedPush | null
  host: HostFacts
  results: Results
  security: ChangeRecord['security']
}

/** The facts of a change that can still change after it has landed. */
export type Results = { reviews: LandedReview[]; checks: CheckResult[]; runs: RunResult[] }

/** The record of a change (provenance.md §1). */
export function describeChange(facts: ChangeFacts): ChangeRecord {
  const { landing, pull_request: pull, push, host } = facts
  const { commits, complete } = host.commits
  const record = {
    version: 1 as const,
    id: facts.id,
    repository: facts.repository,
    branch: landing.branch,
    landed_by: landedBy(facts),
    landed_at: landing.landed_at.toISOString(),
    commits: {
      head: pull?.head_sha ?? facts.merge_sha,
      base: pull?.base_sha ?? push?.before_sha ?? null,
      merge: facts.merge_sha,
      list: commits.map(({ sha, author, committer, signature }) => ({ sha, author, committer, signature })),
      complete,
    },
    pull_request: pull && describePullRequest(pull, landing),
    pusher: pull === null ? (push?.pusher ?? null) : null,
    forced: pull === null && (push?.forced ?? false),
    ...describeResults(facts.results, landing, host.branch_rules),
    branch_rules: host.branch_rules,
    security: facts.security,
  }
  const owned = { ...record, code_owners: describeOwners(host.code_owners, record) }
  return { ...owned, deviations: computeDeviations(owned) }
}

function landedBy({ pull_request, push }: ChangeFacts): ChangeRecord['landed_by'] {
  if (pull_request?.merged_by_queue || push?.by_merge_queue) return 'merge_queue'
  return pull_request === null ? 'push' : 'pull_request'
}

function describePullRequest(pull: LandedPullRequest, { landed_at }: Landing): ChangeRecord['pull_request'] {
  const { number, title, url, author, merged_by, created_at } = pull
  return {
    number,
    title,
    url,
    author,
    merged_by,
    opened_at: created_at.toISOString(),
    merged_at: landed_at.toISOString(),
  }
}

function describeOwners(
  known: HostFacts['code_owners'],
  change: Pick<ChangeRecord, 'pull_request' | 'reviews'>,
): ChangeRecord['code_owners'] {
  const rules = known && parseCodeOwners(known.file.text)
  const owners = known && rules && computeOwners(rules, known.files.paths, getApprovalsByOthers(change))
  return known && owners && { path: known.file.path, commit_sha: known.commit_sha, rules: owners }
}

/** Reviews, checks and runs as a record states them: those that the landing set off. */
export function describeResults(
  { reviews, checks, runs }: Results,
  landing: Pick<Landing, 'head_sha' | 'landed_at'>,
  rules: Pick<BranchRules, 'required_checks'> | null,
): RecordedResults {
  const own = selectSetOff(runs, landing)
  const others = runs.filter((run) => !own.includes(run))
  return {
    reviews: reviews.map((review) => ({ ...review, stale: review.commit_sha !== landing.head_sha })),
    checks: checks
      .filter((check) => !others.some((run) => isInRun(check, run)))
      .filter((check) => own.some((run) => isInRun(check, run)) || hasBegunInTime(check, landing))
      .map(({ started_at: _, ...check }) => ({
        ...check,
        required: rules === null ? null : rules.required_checks.includes(check.name),
      })),
    runs: own.map(({ trigger_kind: _, created_at: _created, ...run }) => run),
  }
}

/** Nobody lands a change by these: they are set off by a clock or by a person, on any commit. */
const OF_OTHERS: readonly RunResult['trigger_kind'][] = ['schedule', 'manual', 'release']

/**
 * The runs that the landing set off: they began until an hour after it, or, where runs follow each
 * other, until an hour after the end of one of them. Runs are given oldest first.
 */
function selectSetOff(runs: readonly RunResult[], { landed_at }: Pick<Landing, 'landed_at'>): RunResult[] {
  const deadline = landed_at.getTime() + DEADLINE_MS
  let followed = deadline
  return runs.filter(({ trigger_kind, created_at, completed_at }) => {
    const until = trigger_kind === 'workflow' ? followed : deadline
    if (OF_OTHERS.includes(trigger_kind) || Date.parse(created_at) > until) return false
    if (completed_at !== null) followed = Math.max(followed, Date.parse(completed_at) + DEADLINE_MS)
    return true
  })
}

/** A check of no known run that begins long after the landing is not about the change. */
function hasBegunInTime({ started_at, completed_at }: CheckResult, { landed_at }: Pick<Landing, 'landed_at'>): boolean {
  const begun = started_at ?? completed_at
  return begun === null || Date.parse(begun) <= landed_at.getTime() + DEADLINE_MS
}

/** The pages of a run's jobs are below that of the run. */
function isInRun({ url: checkUrl }: CheckResult, { url }: RunResult): boolean {
  return url !== null && (checkUrl?.startsWith(`${url}/`) ?? false)
}

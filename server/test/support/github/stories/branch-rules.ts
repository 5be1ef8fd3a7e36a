import type { Repository } from '../types.ts'
import type { World } from '../webhooks/world.ts'

export type BranchRules = {
  /** Approvals that a pull request needs; without it, no pull request is required. */
  approvals?: number
  codeOwners?: boolean
  checks?: string[]
  signatures?: boolean
  mergeQueue?: boolean
  blocksForcePushes?: boolean
  blocksDeletion?: boolean
}

/** Adds a ruleset of the repository for a branch. The rules of all its rulesets apply. */
export function protectBranch(world: World, repository: Repository, branch: string, rules: BranchRules): void {
  const source = `${repository.owner.login}/${repository.name}`
  const origin = { ruleset_source_type: 'Repository', ruleset_source: source, ruleset_id: world.state.newId() }
  const added = rulesOf(rules).map((rule) => ({ ...rule, ...origin }))
  repository.rules.set(branch, [...(repository.rules.get(branch) ?? []), ...added])
}

function rulesOf(rules: BranchRules): { type: string; parameters?: object }[] {
  const { approvals, checks = [] } = rules
  return [
    ...(approvals === undefined ? [] : [pullRequestRule(approvals, rules.codeOwners ?? false)]),
    ...(checks.length === 0 ? [] : [statusCheckRule(checks)]),
    ...(rules.signatures ? [{ type: 'required_signatures' }] : []),
    ...(rules.mergeQueue ? [{ type: 'merge_queue', parameters: MERGE_QUEUE }] : []),
    ...(rules.blocksForcePushes ? [{ type: 'non_fast_forward' }] : []),
    ...(rules.blocksDeletion ? [{ type: 'deletion' }] : []),
  ]
}

function pullRequestRule(approvals: number, codeOwners: boolean) {
  const parameters = {
    required_approving_review_count: approvals,
    dismiss_stale_reviews_on_push: false,
    require_code_owner_review: codeOwners,
    require_last_push_approval: false,
    required_review_thread_resolution: false,
  }
  return { type: 'pull_request', parameters }
}

function statusCheckRule(checks: string[]) {
  const required_status_checks = checks.map((context) => ({ context }))
  const parameters = { required_status_checks, strict_required_status_checks_policy: false }
  return { type: 'required_status_checks', parameters }
}

const MERGE_QUEUE = {
  check_response_timeout_minutes: 60,
  grouping_strategy: 'ALLGREEN',
  max_entries_to_build: 5,
  max_entries_to_merge: 5,
  merge_method: 'MERGE',
  min_entries_to_merge: 1,
  min_entries_to_merge_wait_minutes: 5,
}

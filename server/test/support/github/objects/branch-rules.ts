import type { BranchRules, Repository } from '../../hosts/types.ts'
import { fullName } from '../../hosts/world.ts'

/** The rules of a branch, which are those of one ruleset. */
export function branchRules(repository: Repository, branch: string): object[] {
  const origin = { ruleset_source_type: 'Repository', ruleset_source: fullName(repository), ruleset_id: repository.id }
  return rulesOf(repository.rules.get(branch) ?? {}).map((rule) => ({ ...rule, ...origin }))
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

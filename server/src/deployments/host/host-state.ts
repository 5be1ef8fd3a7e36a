import { parseBranchName } from '../../repositories/repository-identity.ts'
import type { Awaited, DeploymentStatus } from '../deployment.schema.ts'
import { OWN_RULE } from '../deployment-state.ts'
import type { HostFacts } from './host-facts.ts'
import {
  computeBypass,
  computeStanding,
  getRules,
  isCancelled,
  isOver,
  listAwaited,
  type Standing,
  selectReviews,
} from './standing.ts'

/**
 * providers.md §3 and §6. A rejection is final, whatever the host reports afterwards. A deployment
 * waits while anything is `awaited`, whoever has answered: it is approved if nothing is.
 */
export function computeStatus(facts: HostFacts, standing: Standing, awaited: readonly Awaited[]): DeploymentStatus {
  const { host, rule, reviewers } = standing
  const isOpen = host === null || host === 'waiting'
  if (reviewers === 'rejected') return 'rejected'
  if (rule === 'expired') return 'expired'
  if (rule === 'rejected')
    return isOpen && reviewers === 'pending' && !isCancelled(facts) ? 'pending_approval' : 'rejected'
  if (isOpen) return openStatus(facts, standing, awaited)
  if (host === 'success' && facts.next_success?.is_rollback) return 'rolled_back'
  return host
}

function openStatus(facts: HostFacts, { rule, reviewers }: Standing, awaited: readonly Awaited[]): DeploymentStatus {
  if (isCancelled(facts)) return 'cancelled'
  const isAnswered = rule === 'approved' || reviewers === 'approved'
  // Rules that were not read yet say nothing about a deployment that nobody had to answer so far.
  if (awaited.some((gate) => isAnswered || gate !== 'protection_rules')) return 'pending_approval'
  return isAnswered ? 'approved' : 'in_progress'
}

const RULE_TYPES = ['required_reviewers', 'wait_timer', 'branch_policy', OWN_RULE]

/** The shown columns of a deployment that follow from its facts. */
export function computeDeployment(facts: HostFacts) {
  const { deployment, statuses, next_success } = facts
  const standing = computeStanding(facts)
  const awaited = listAwaited(facts, standing)
  const status = computeStatus(facts, standing, awaited)
  const succeeded_at = statuses.find(({ state }) => state === 'success')?.created_at ?? null
  const isWaiting = status === 'pending_approval' && standing.rule === 'pending'
  const newest = statuses.toReversed()
  const running = newest.find(({ state }) => state === 'success' || state === 'inactive')
  return {
    ...runColumns(facts),
    ...ruleColumns(facts, standing),
    status,
    awaiting: status === 'pending_approval' ? awaited : [],
    job_id: newest.find(({ job_id }) => job_id)?.job_id ?? null,
    environment_url: newest.find(({ environment_url }) => environment_url)?.environment_url ?? null,
    callback_url: facts.callback_url,
    reviewers_state: standing.reviewers,
    custom_rule_state: standing.rule,
    custom_rule_awaiting: awaiting(facts, standing, isWaiting),
    answer_until: isWaiting ? deployment.rule_answer_until : null,
    bypass: computeBypass(facts, standing),
    succeeded_at,
    deployed_at: succeeded_at,
    live_at: newest.find(({ state }) => state === 'success')?.created_at ?? null,
    inactive_at: running?.state === 'inactive' ? running.created_at : null,
    rollback_at: status === 'rolled_back' ? (next_success?.succeeded_at ?? null) : null,
    previous_attempt_id: facts.previous_attempt_id,
    superseded_by_id: facts.next_attempt_id ?? (succeeded_at ? (next_success?.id ?? null) : null),
  }
}

export type DerivedDeployment = ReturnType<typeof computeDeployment>

function runColumns({ deployment, run, statuses }: HostFacts) {
  const logUrl = statuses.findLast(({ log_url }) => log_url)?.log_url ?? null
  const ref = run?.ref ?? deployment.host_ref
  const tag = ref?.startsWith('refs/tags/') ? ref.slice('refs/tags/'.length) : null
  return {
    workflow_name: run?.workflow_name ?? null,
    workflow_path: run?.workflow_path ?? null,
    branch: ref === deployment.commit_sha ? null : parseBranchName(ref),
    commit_message: run?.commit_message ?? null,
    release_name: run?.release_name ?? null,
    version: run?.release_name ?? tag,
    author: run?.author ?? deployment.host_creator,
    author_avatar_url: run?.author ? run.author_avatar_url : deployment.host_creator_avatar_url,
    html_url: run?.html_url ?? logUrl,
    run_created_at: run?.created_at ?? null,
    attempt: deployment.host_attempt ?? 1,
  }
}

function ruleColumns(facts: HostFacts, { reviewers, hasGoneOn, host }: Standing) {
  const rules = getRules(facts)
  const types = new Set(rules?.rule_types)
  if (facts.callback_url !== null) types.add(OWN_RULE)
  if (reviewers !== null) types.add('required_reviewers')
  const ordered = RULE_TYPES.filter((type) => types.has(type))
  return {
    protection_rule_type: ordered[0] ?? null,
    protection_rule_types: ordered,
    gated: ordered.length > 0,
    required_reviewers: rules?.reviewers ?? [],
    required_reviewer_teams: rules?.reviewer_teams ?? [],
    external_custom_rules: (rules?.custom_rules ?? [])
      .filter(({ is_own }) => !is_own)
      .map(({ app_id, slug }) => ({ app_id, slug })),
    reviews: selectReviews(facts, hasGoneOn || isOver(host))
      .filter(({ state }) => state !== 'requested')
      .map(({ reviewer, avatar_url, state, comment, at }) => ({
        reviewer,
        avatar_url,
        state,
        comment,
        reviewed_at: at.toISOString(),
      })),
  }
}

/** Why our rule holds the deployment, or that the host did not take its decision. */
function awaiting({ deployment }: HostFacts, { host, rule }: Standing, isWaiting: boolean): string | null {
  if (isWaiting) return 'manual_decision_required'
  const isTold = rule === null || rule === 'pending' || rule === 'cancelled'
  const hasFollowed = host !== null && host !== 'waiting'
  return deployment.decision_undelivered && !isTold && !hasFollowed ? 'decision_not_delivered' : null
}

import { hasEndedBadly } from '../../ci/runs/run-status.ts'
import type { HostDeploymentState } from '../../codehosts/host-deployment.ts'
import { AWAITED, type Awaited } from '../deployment.schema.ts'
import { OWN_RULE } from '../deployment-state.ts'
import type { EnvironmentRules, HostFacts, StoredReview } from './host-facts.ts'

/** `inactive` is left out: it says something about a newer deployment. */
type HostProgress = Exclude<HostDeploymentState, 'inactive'>

/** How the rules and the host stand to each other. Every shown state follows from it. */
export type Standing = {
  /** The newest state that the host reported, apart from `inactive`; null if there is none. */
  host: HostProgress | null
  /** True once the host has reported that the deployment was started. */
  hasGoneOn: boolean
  reviewers: ReviewersState | null
  rule: RuleState | null
}

type ReviewersState = 'pending' | 'approved' | 'rejected'
type RuleState = 'pending' | 'approved' | 'rejected' | 'expired' | 'cancelled'

/** Hosts report `inactive` only for deployments that were successful. */
const STARTED: HostDeploymentState[] = ['in_progress', 'success', 'inactive']

export function computeStanding(facts: HostFacts): Standing {
  const reported = facts.statuses.map(({ state }) => state).filter((state) => state !== 'inactive')
  const host = reported.at(-1) ?? (facts.statuses.length > 0 ? 'success' : null)
  const hasGoneOn = facts.statuses.some(({ state }) => STARTED.includes(state))
  const reviewers = reviewersState(facts, hasGoneOn || isOver(host))
  return { host, hasGoneOn, reviewers, rule: ruleState(facts, { host, hasGoneOn, reviewers }) }
}

export function isOver(host: HostProgress | null): boolean {
  return host !== null && host !== 'waiting' && host !== 'in_progress'
}

/** The rules of the environment. They apply only to deployments of runs. */
export function getRules({ deployment }: HostFacts): EnvironmentRules | null {
  return deployment.host_run_id === null ? null : deployment.environment_rules
}

/**
 * Reviewers are required if the host asked them or one of them answered, and if the environment
 * requires them and the deployment waits or has waited. One answer decides.
 */
function reviewersState(facts: HostFacts, isPast: boolean): ReviewersState | null {
  const states = selectReviews(facts, isPast).map(({ state }) => state)
  const { statuses } = facts
  const hasWaited = !isPast || statuses.some(({ state }) => state === 'waiting')
  const requires = getRules(facts)?.rule_types.includes('required_reviewers') ?? false
  if (states.includes('rejected')) return 'rejected'
  if (states.includes('approved')) return 'approved'
  return states.includes('requested') || (requires && hasWaited) ? 'pending' : null
}

/**
 * Reviews of the deployment's attempt. Lists of hosts do not name the attempt: their reviews count
 * for the first attempt. For a later one that has gone on, an approval counts if the list contains
 * more of them than are known of other attempts.
 */
export function selectReviews({ reviews, deployment }: HostFacts, isPast: boolean): StoredReview[] {
  const attempt = deployment.host_attempt ?? 1
  const named = reviews.filter((review) => review.attempt === attempt)
  const unnamed = reviews.filter((review) => {
    if (review.attempt !== 0 || named.some((other) => isSame(review, other))) return false
    const ofOthers = reviews.filter((other) => other.attempt > 0 && isSame(review, other)).length
    return review.times > ofOthers && (attempt === 1 || (isPast && review.state === 'approved'))
  })
  return [...named, ...unnamed]
}

function isSame(one: StoredReview, other: StoredReview): boolean {
  return one.state === other.state && one.reviewer === other.reviewer
}

function ruleState(facts: HostFacts, { host, hasGoneOn, reviewers }: Omit<Standing, 'rule'>): RuleState | null {
  if (facts.callback_url === null) return null
  if (facts.deployment.rule_decision) return facts.deployment.rule_decision
  // One answer lets all go on that the host asks about together; some can begin later.
  if (hasGoneOn) return facts.is_approved_beside && !facts.deployment.has_bypassed_rule ? 'approved' : 'pending'
  return isOver(host) || reviewers === 'rejected' || isCancelled(facts) ? 'cancelled' : 'pending'
}

/**
 * What still holds a deployment that its host has not let go on, as far as it is known. Hosts do
 * not report how a timer or the rule of another App has ended: they hold it until it goes on.
 */
export function listAwaited(facts: HostFacts, { rule, reviewers }: Standing): Awaited[] {
  const { deployment } = facts
  const rules = getRules(facts)
  const isUnread = deployment.host_run_id !== null && !(rules?.is_known ?? false)
  const holds: Record<Awaited, boolean> = {
    customRule: rule === 'pending' || isMissingRequest(facts),
    required_reviewers: reviewers === 'pending',
    wait_timer: rules?.rule_types.includes('wait_timer') ?? false,
    external_custom_rules: hasExternalRule(facts),
    protection_rules: isUnread,
  }
  return AWAITED.filter((gate) => holds[gate])
}

/** The list of Apps with rules may be unknown. A rule is then another's unless ours was asked. */
function hasExternalRule(facts: HostFacts): boolean {
  const rules = getRules(facts)
  if (rules === null) return false
  const isUnnamed = rules.custom_rules.length === 0 && rules.rule_types.includes(OWN_RULE)
  return rules.custom_rules.some(({ is_own }) => !is_own) || (isUnnamed && facts.callback_url === null)
}

/**
 * True if the environment has our rule, but no request of the host for an answer is known: it is
 * still to come, or was lost.
 */
export function isMissingRequest(facts: HostFacts): boolean {
  const hasOwnRule = getRules(facts)?.custom_rules.some(({ is_own }) => is_own) ?? false
  return hasOwnRule && facts.callback_url === null && !isCancelled(facts)
}

/** True if the deployment cannot start any more: its attempt ended badly or was repeated. */
export function isCancelled({ deployment, run, next_attempt_id }: HostFacts): boolean {
  const isOfAttempt = run?.attempt === (deployment.host_attempt ?? 1)
  return next_attempt_id !== null || (run !== null && isOfAttempt && hasEndedBadly(run.status))
}

/** The wire form of a deployment's `bypass`. */
export type Bypass = {
  at: string
  from: string
  to: string
  actor: string | null
  gates: string[]
  policies: string[]
}

/**
 * How the host let a deployment go on against its protection rules; null if it did not. A failure
 * alone shows nothing, because hosts report it for rejected and cancelled deployments too. Waits
 * until the environment and, if required, the reviews were read: a review can arrive later than the
 * status that it caused.
 */
export function computeBypass(facts: HostFacts, standing: Standing): Bypass | null {
  const { statuses, deployment } = facts
  const started = statuses.find(({ state }) => state === 'in_progress' || state === 'success')
  const isUnread = deployment.host_run_id !== null && deployment.environment_rules === null
  if (!started || isUnread || isMissingReviews(facts, standing)) return null
  const gates = bypassedGates(facts, standing)
  if (gates.length === 0) return null
  const isOwn = gates.includes(OWN_RULE)
  const fromReviewers = standing.reviewers === 'rejected' ? 'rejected' : 'pending_approval'
  return {
    at: started.created_at.toISOString(),
    from: isOwn && standing.rule !== 'pending' ? (standing.rule as string) : fromReviewers,
    to: started.state,
    actor: started.creator,
    gates,
    policies: isOwn ? deployment.blocking_policies : [],
  }
}

/**
 * True if the deployment has started or ended, but no answer of its reviewers is known. Their
 * reviews must be read before it is known whether they were bypassed or have rejected it.
 */
export function isMissingReviews({ deployment }: HostFacts, { host, hasGoneOn, reviewers }: Standing): boolean {
  const isPast = hasGoneOn || isOver(host)
  return isPast && reviewers === 'pending' && deployment.reviews_read === null && deployment.host_run_id !== null
}

function bypassedGates({ deployment }: HostFacts, { rule, reviewers }: Standing): string[] {
  const isReviewed = reviewers === null || reviewers === 'approved'
  const isUnknown = reviewers === 'pending' && deployment.reviews_read !== 'done'
  return [
    ...(rule === 'pending' || rule === 'rejected' || rule === 'expired' ? [OWN_RULE] : []),
    ...(isReviewed || isUnknown ? [] : ['required_reviewers']),
  ]
}

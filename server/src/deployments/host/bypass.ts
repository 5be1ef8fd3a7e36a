import { OWN_RULE } from '../deployment-state.ts'
import type { HostFacts } from './host-facts.ts'
import { isOver, type Standing } from './standing.ts'

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
  return {
    at: started.created_at.toISOString(),
    from: isOwn && standing.rule !== 'pending' ? (standing.rule as string) : fromReviewers(standing),
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

function fromReviewers({ reviewers }: Standing): string {
  return reviewers === 'rejected' ? 'rejected' : 'pending_approval'
}

import type { PolicyEvaluation } from '../../compliance/policy-evaluation.ts'
import type { RequiredGate } from '../required-gate.store.ts'

/**
 * Does a gate take the word of passing policies? One that names policies does, and one that asks for a single approval
 * does, too. A gate that names none and asks for several approvals wants people.
 */
export function takesPolicies({ policies, required_approvals }: RequiredGate): boolean {
  return policies.length > 0 || required_approvals === 1
}

/** Is there anything to show of an evaluation? */
export function saysSomething({ decision, policies }: PolicyEvaluation): boolean {
  return decision !== 'none' || policies.length > 0
}

/** Why policies hold a deployment back, in a sentence or a few; null where they do not. */
export function blockingReasons({ decision, policies }: PolicyEvaluation): string | null {
  if (decision !== 'block') return null
  const reasons = policies.flatMap((policy) =>
    blockingRules(policy).map(({ name, reason }) => `${policy.name}: ${reason ?? name}`),
  )
  return reasons.length > 0 ? reasons.join('\n').slice(0, NOTE_CHARS_MAX) : 'The policies could not be read.'
}

const NOTE_CHARS_MAX = 2000

type Policy = PolicyEvaluation['policies'][number]

/** The rules of a policy that hold a deployment back. */
export function blockingRules({ mode, rules }: Policy): Policy['rules'] {
  return mode === 'enforce'
    ? rules.filter(({ status, blocking }) => blocking && status !== 'pass' && status !== 'warn')
    : []
}

/** The wire form of an evaluation on a deployment. `answered` is how the service then answered its own rule. */
export function toPolicyEvaluation({ evaluation_id, at, decision, policies }: PolicyEvaluation) {
  return {
    evaluation_id,
    at,
    decision,
    answered: null,
    policies: policies.map((policy) => ({
      id: policy.id,
      name: policy.name,
      version: policy.version,
      mode: policy.mode,
      decision: policy.decision,
    })),
  }
}

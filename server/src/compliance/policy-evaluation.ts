import type { PolicyMode } from './policy.schema.ts'

/** `error` never passes: what cannot be evaluated is no reason to let anything out. */
export type RuleStatus = 'pass' | 'fail' | 'warn' | 'error'

export type RuleVerdict = {
  rule: string
  name: string
  status: RuleStatus
  /** Does a `fail` or `error` of this rule hold a deployment back, where its policy is in `enforce`? */
  blocking: boolean
  /** Why it does not pass. */
  reason: string | null
  /** Which values decided. */
  evidence: string | null
}

/** `warn`: something does not pass, and the rule or the policy's mode says that it holds nothing back. */
export type PolicyDecision = 'approve' | 'block' | 'warn'

export type PolicyVerdict = {
  id: string
  name: string
  version: number
  mode: PolicyMode
  decision: PolicyDecision
  rules: RuleVerdict[]
}

/** What all policies that cover a deployment say together; `none` where none of them enforces. */
export type PolicyEvaluation = {
  evaluation_id: string
  at: Date
  decision: 'approve' | 'block' | 'none'
  policies: PolicyVerdict[]
}

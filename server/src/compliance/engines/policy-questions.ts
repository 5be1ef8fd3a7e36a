import { BoundedProcess } from '../../platform/processes/bounded-process.ts'
import type { PolicyInput } from '../input/policy-input.schema.ts'
import type { CelRule, PolicyBundle } from '../policies/policy.schema.ts'
import type { RuleAnswer } from '../policies/policy-verdict.ts'

type RulesQuestion = { type: 'cel'; rules: CelRule[]; input: PolicyInput }

/** `bundle` is null unless the process has answered `unknown`. */
export type ModuleQuestion = {
  type: 'wasm'
  sha256: string
  bundle: PolicyBundle | null
  entrypoint: string
  input: PolicyInput
}

/** `unknown`: the process has not loaded this module and needs its bundle. */
export type ModuleAnswer =
  | { type: 'unknown' }
  | { type: 'result'; result: unknown }
  | { type: 'failed'; reason: string }

export type Question = RulesQuestion | ModuleQuestion
export type Part = RuleAnswer | ModuleAnswer

/** The one child process for policies. It starts with the first question. */
const policyProcess = new BoundedProcess<Question, Part>(new URL('./policy-process.ts', import.meta.url))

/** Time limit for all rules of a policy, or for one module. */
export const POLICY_TIMEOUT_MS = 1000

export function runRules(question: Omit<RulesQuestion, 'type'>) {
  return policyProcess.ask({ type: 'cel', ...question }, POLICY_TIMEOUT_MS)
}

export function runModule(question: Omit<ModuleQuestion, 'type'>) {
  return policyProcess.ask({ type: 'wasm', ...question }, POLICY_TIMEOUT_MS)
}

import { BoundedProcess } from '../../platform/processes/bounded-process.ts'
import type { CelRule } from '../policy.schema.ts'
import type { PolicyBundle } from '../policy-bundle.ts'
import type { PolicyInput } from '../policy-input.schema.ts'
import type { RuleAnswer } from './rule-answer.ts'

export type RulesQuestion = { type: 'cel'; rules: CelRule[]; input: PolicyInput }

/** `bundle` is only sent where the process has said that it does not have it. */
export type ModuleQuestion = {
  type: 'wasm'
  sha256: string
  bundle: PolicyBundle | null
  entrypoint: string
  input: PolicyInput
}

export type ModuleAnswer =
  | { type: 'unknown' }
  | { type: 'result'; result: unknown }
  | { type: 'failed'; reason: string }

export type Question = RulesQuestion | ModuleQuestion
export type Part = RuleAnswer | ModuleAnswer

/** One beside each process of ours, started with the first question. */
const answering = new BoundedProcess<Question, Part>(new URL('./policy-process.ts', import.meta.url))

/** Time for all rules of a policy, or for one module. */
export const POLICY_TIMEOUT_MS = 1000

export function askRules(question: Omit<RulesQuestion, 'type'>) {
  return answering.ask({ type: 'cel', ...question }, POLICY_TIMEOUT_MS)
}

export function askModule(question: Omit<ModuleQuestion, 'type'>) {
  return answering.ask({ type: 'wasm', ...question }, POLICY_TIMEOUT_MS)
}

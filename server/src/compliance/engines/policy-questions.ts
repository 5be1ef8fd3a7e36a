import { BoundedThread } from '../../platform/threads/bounded-thread.ts'
import type { PolicyBundle } from '../policy-bundle.ts'
import type { CelRule } from '../policy.schema.ts'
import type { PolicyInput } from '../policy-input.schema.ts'
import type { RuleAnswer } from './rule-answer.ts'

export type RulesQuestion = { type: 'cel'; rules: CelRule[]; input: PolicyInput }

/** `bundle` is only sent where the thread has said that it does not have it. */
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

export type ThreadQuestion = RulesQuestion | ModuleQuestion
export type ThreadPart = RuleAnswer | ModuleAnswer

/** One in each process, started with the first question. */
const thread = new BoundedThread<ThreadQuestion, ThreadPart>(new URL('./policy-thread.ts', import.meta.url))

/** Time for all rules of a policy, or for one module. */
export const POLICY_TIMEOUT_MS = 1000

export function askRules(question: Omit<RulesQuestion, 'type'>) {
  return thread.ask({ type: 'cel', ...question }, POLICY_TIMEOUT_MS)
}

export function askModule(question: Omit<ModuleQuestion, 'type'>) {
  return thread.ask({ type: 'wasm', ...question }, POLICY_TIMEOUT_MS)
}

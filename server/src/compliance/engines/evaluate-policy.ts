import { BoundedProcess } from '../../platform/processes.ts'
import type { Services } from '../../services.ts'
import { filterEvidence } from '../policies/evidence-view.ts'
import type { CelRule, PolicyBundle, PolicyEngine } from '../policies/policy.schema.ts'
import type { PolicyInput } from '../policies/policy-input.schema.ts'
import {
  createErrorAnswer,
  createErrorVerdict,
  type RuleAnswer,
  type RuleVerdict,
  readVerdicts,
} from '../policies/policy-verdict.ts'
import { evaluateDecision, evaluateRego } from './evaluate-rego.ts'

/** What jobs wait for that evaluate policies. */
export const POLICIES = 'policies'

/**
 * Evaluates a policy's rules on an input. Every failure of an engine becomes an `error` verdict.
 */
export async function evaluatePolicy(
  services: Pick<Services, 'config' | 'log'>,
  engine: PolicyEngine,
  input: PolicyInput,
  findBundle: FindBundle,
): Promise<RuleVerdict[]> {
  switch (engine.type) {
    case 'cel':
      return evaluateRules(engine.rules, input)
    case 'opa':
      return evaluateDecision(services, engine.decision, filterEvidence(input, engine))
    case 'rego':
      return evaluateRego(services, engine, filterEvidence(input, engine))
    case 'wasm':
      return evaluateModule(engine, filterEvidence(input, engine), findBundle)
  }
}

/** Evaluates a policy's CEL rules. A rule that the process did not answer is an error. */
async function evaluateRules(rules: CelRule[], input: PolicyInput): Promise<RuleVerdict[]> {
  const { parts, interrupted } = await policyProcess.ask({ type: 'cel', rules, input }, POLICY_TIMEOUT_MS)
  const answers = parts as RuleAnswer[]
  const limit = interrupted === 'timeout' ? `more than ${POLICY_TIMEOUT_MS} ms` : 'too much memory'
  const unanswered = (index: number) => createErrorAnswer(whyUnanswered(rules, answers.length, index, limit))
  return rules.map((rule, index) => toVerdict(rule, answers[index] ?? unanswered(index)))
}

/** The first rule without an answer exceeded the limit, because rules are answered in order. */
function whyUnanswered(rules: CelRule[], answered: number, index: number, limit: string): string {
  if (index === answered) return `The rule took ${limit}, including the rules before it`
  return `Not evaluated, because the earlier rule ${rules[answered]?.rule} took ${limit}`
}

/** A reason from the expression takes precedence over the reason in the policy file. */
function toVerdict({ rule, name, blocking, reason }: CelRule, answer: RuleAnswer): RuleVerdict {
  const { status, evidence } = answer
  const why = status === 'fail' || status === 'warn' ? (answer.reason ?? reason) : answer.reason
  return { rule, name, status, blocking, reason: status === 'pass' ? null : why, evidence }
}

/** Returns the stored bundle with that SHA-256, or null. */
type FindBundle = (sha256: string) => Promise<PolicyBundle | null>

type WasmEngine = Extract<PolicyEngine, { type: 'wasm' }>

/** Evaluates a WebAssembly policy. Fetches its bundle only if the process has not loaded it. */
export async function evaluateModule(
  { bundle: sha256, entrypoint }: Pick<WasmEngine, 'bundle' | 'entrypoint'>,
  input: PolicyInput,
  findBundle: FindBundle,
): Promise<RuleVerdict[]> {
  const question = { sha256, entrypoint, input }
  let { parts, interrupted } = await runModule({ ...question, bundle: null })
  if ((parts[0] as ModuleAnswer | undefined)?.type === 'unknown') {
    const bundle = await findBundle(sha256)
    if (bundle === null) return createErrorVerdict("The policy's bundle is not stored")
    ;({ parts, interrupted } = await runModule({ ...question, bundle }))
  }
  if (interrupted === 'timeout') return createErrorVerdict(`The policy took more than ${POLICY_TIMEOUT_MS} ms`)
  if (interrupted === 'died') return createErrorVerdict('The policy took too much memory')
  const answer = parts[0] as ModuleAnswer
  if (answer.type === 'result') return readVerdicts(answer.result)
  return createErrorVerdict(
    answer.type === 'failed' ? `The module failed: ${answer.reason}` : 'The module was not loaded',
  )
}

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
const POLICY_TIMEOUT_MS = 1000

export function runModule(question: Omit<ModuleQuestion, 'type'>) {
  return policyProcess.ask({ type: 'wasm', ...question }, POLICY_TIMEOUT_MS)
}

import { setTimeout as delay } from 'node:timers/promises'
import { BoundedProcess } from '../../platform/processes.ts'
import type { Services } from '../../services.ts'
import { filterInput, listQuestions } from '../policies/evidence-view.ts'
import type { CelRule, PolicyBundle, PolicyEngine } from '../policies/policy.schema.ts'
import type { PolicyInput } from '../policies/policy-input.schema.ts'
import {
  createErrorAnswer,
  createErrorVerdict,
  mergeWorse,
  type RuleAnswer,
  type RuleVerdict,
  readVerdicts,
} from '../policies/policy-verdict.ts'
import { evaluateDecision, evaluateRego } from './evaluate-rego.ts'
import { createAsker, EvaluationTimeError, type PolicyAsker, PolicyBudget, PolicyQueue } from './policy-queue.ts'

/** What jobs wait for that evaluate policies. */
export const POLICIES = 'policies'

/** Who asks a policy, and whether it is in a file of a repository. */
type Asking = { asker: PolicyAsker; isRepository: boolean }

const OF_OPERATOR = (): Asking => ({ asker: createAsker(null), isRepository: false })

/**
 * Evaluates a policy's rules on an input, when it is the asker's turn; of two questions to a rule,
 * the worse answer counts. Every failure of an engine becomes an `error` verdict. Throws
 * `PolicyBudgetError` if the turn did not come.
 */
export async function evaluatePolicy(
  services: Pick<Services, 'config' | 'log'>,
  engine: PolicyEngine,
  input: PolicyInput,
  asking: Asking & { findBundle: FindBundle },
): Promise<RuleVerdict[]> {
  let verdicts: RuleVerdict[] = []
  for (const question of listQuestions(engine))
    verdicts = mergeWorse(verdicts, await evaluateQuestion(services, question, input, asking))
  return verdicts
}

/** Evaluates one of the questions of a policy (`listQuestions`). */
export async function evaluateQuestion(
  services: Pick<Services, 'config' | 'log'>,
  engine: PolicyEngine,
  input: PolicyInput,
  { findBundle, ...asking }: Asking & { findBundle: FindBundle },
): Promise<RuleVerdict[]> {
  try {
    switch (engine.type) {
      case 'cel':
        return await evaluateRules(engine.rules, input, asking)
      case 'opa':
        return await askServer(asking, () => evaluateDecision(services, engine.decision, filterInput(input, engine)))
      case 'rego':
        return await askServer(asking, () => evaluateRego(services, engine, filterInput(input, engine)))
      case 'wasm':
        return await evaluateModule(engine, filterInput(input, engine), findBundle, asking)
    }
  } catch (error) {
    if (error instanceof EvaluationTimeError) return createErrorVerdict(error.message)
    throw error
  }
}

/** Evaluates a policy's CEL rules. A rule that the process did not answer is an error. */
async function evaluateRules(rules: CelRule[], input: PolicyInput, asking: Asking): Promise<RuleVerdict[]> {
  const { parts, interrupted, timeoutMs } = await askProcess(asking, { type: 'cel', rules, input })
  const answers = parts as RuleAnswer[]
  const limit = interrupted === 'timeout' ? `more than ${timeoutMs} ms` : 'too much memory'
  // The first rule without an answer exceeded the limit, because rules are answered in order.
  const unanswered = (index: number) =>
    createErrorAnswer(
      index === answers.length
        ? `The rule took ${limit}, including the rules before it`
        : `Not evaluated, because the earlier rule ${rules[answers.length]?.rule} took ${limit}`,
    )
  return rules.map((rule, index) => toVerdict(rule, answers[index] ?? unanswered(index)))
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
  asking = OF_OPERATOR(),
): Promise<RuleVerdict[]> {
  const question = { sha256, entrypoint, input }
  let { parts, interrupted, timeoutMs } = await runModule({ ...question, bundle: null }, asking)
  if ((parts[0] as ModuleAnswer | undefined)?.type === 'unknown') {
    const bundle = await findBundle(sha256)
    if (bundle === null) return createErrorVerdict("The policy's bundle is not stored")
    ;({ parts, interrupted, timeoutMs } = await runModule({ ...question, bundle }, asking))
  }
  if (interrupted === 'timeout') return createErrorVerdict(`The policy took more than ${timeoutMs} ms`)
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

/** Time limit for all rules of a policy, or for one module. */
const POLICY_TIMEOUT_MS = 1000
const PROCESSES = 2
const REQUESTS_MAX = 8

const budget = new PolicyBudget()
const startProcess = () => new BoundedProcess<Question, Part>(new URL('./policy-process.ts', import.meta.url))

/** The child processes for policies. Each starts with its first question. */
const processes = new PolicyQueue(Array.from({ length: PROCESSES }, startProcess), budget)
/** Requests to the OPA server, which take no process. */
const requests = new PolicyQueue(
  Array.from({ length: REQUESTS_MAX }, () => null),
  budget,
)

function askProcess({ asker, isRepository }: Asking, question: Question) {
  return processes.run(asker, isRepository, async (child, leftMs) => {
    const timeoutMs = Math.ceil(Math.min(POLICY_TIMEOUT_MS, leftMs))
    let usedMs = 0
    const answer = await child.ask(question, timeoutMs, (ms) => {
      usedMs = ms
    })
    return { answer: { ...answer, timeoutMs }, usedMs }
  })
}

function askServer({ asker, isRepository }: Asking, evaluate: () => Promise<RuleVerdict[]>): Promise<RuleVerdict[]> {
  return requests.run(asker, isRepository, async (_slot, leftMs) => {
    const startedAt = performance.now()
    const late = delay(leftMs, undefined, { ref: false }).then(() => Promise.reject(new EvaluationTimeError()))
    const answer = await Promise.race([evaluate(), late])
    return { answer, usedMs: performance.now() - startedAt }
  })
}

export function runModule(question: Omit<ModuleQuestion, 'type'>, asking = OF_OPERATOR()) {
  return askProcess(asking, { type: 'wasm', ...question })
}

import { setTimeout as delay } from 'node:timers/promises'
import { BoundedProcess } from '../../platform/processes.ts'
import type { Services } from '../../services.ts'
import { filterInput, listQuestions, rejectTruncated } from '../policies/evidence-view.ts'
import type { CelRule, EvidenceTerms, PolicyBundle, PolicyEngine } from '../policies/policy.schema.ts'
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
import { EvaluationTimeError, PolicyAsker, PolicyBudget, PolicyQueue } from './policy-queue.ts'

/** What jobs wait for that evaluate policies. */
export const POLICIES = 'policies'

/** Who asks a policy, and how its bundle is read. */
export type Asking = { asker: PolicyAsker; findBundle: FindBundle }

/**
 * Evaluates a policy's rules on its inputs, when it is the asker's turn; of several inputs and of
 * two questions to a rule, the worse answer counts. Every failure of an engine becomes an `error`
 * verdict. Throws `PolicyBudgetError` if the turn did not come.
 */
export async function evaluatePolicy(
  services: Pick<Services, 'config' | 'log'>,
  engine: PolicyEngine,
  inputs: readonly PolicyInput[],
  asking: Asking,
): Promise<RuleVerdict[]> {
  let verdicts: RuleVerdict[] = []
  for (const input of inputs) {
    for (const question of listQuestions(engine))
      verdicts = mergeWorse(verdicts, await evaluateQuestion(services, question, input, asking))
  }
  return verdicts
}

/** Evaluates one of the questions of a policy (`listQuestions`). */
export async function evaluateQuestion(
  services: Pick<Services, 'config' | 'log'>,
  engine: PolicyEngine,
  input: PolicyInput,
  { findBundle, asker }: Asking,
): Promise<RuleVerdict[]> {
  try {
    switch (engine.type) {
      case 'cel':
        return await evaluateRules(engine.rules, input, asker)
      case 'opa':
        return await askOnView(input, engine, (view) =>
          askServer(asker, (note) => evaluateDecision(services, engine.decision, view, note)),
        )
      case 'rego':
        return await askOnView(input, engine, (view) =>
          askServer(asker, (note) => evaluateRego(services, engine, view, note)),
        )
      case 'wasm':
        return await askOnView(input, engine, (view) => evaluateModule(engine, view, findBundle, asker))
    }
  } catch (error) {
    if (error instanceof EvaluationTimeError) return createErrorVerdict(error.message)
    throw error
  }
}

/** Nobody knows what a policy that reads the whole input would say of what was left out of it. */
async function askOnView(
  input: PolicyInput,
  terms: EvidenceTerms,
  ask: (view: PolicyInput) => Promise<RuleVerdict[]>,
): Promise<RuleVerdict[]> {
  const view = filterInput(input, terms)
  const verdicts = await ask(view)
  return verdicts.map((verdict) => ({ ...verdict, ...rejectTruncated(verdict, view) }))
}

/** Evaluates a policy's CEL rules. A rule that the process did not answer is an error. */
async function evaluateRules(rules: CelRule[], input: PolicyInput, asker: PolicyAsker): Promise<RuleVerdict[]> {
  const { parts, interrupted, timeoutMs } = await askProcess(asker, { type: 'cel', rules, input })
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
  asker = new PolicyAsker(null),
): Promise<RuleVerdict[]> {
  const question = { sha256, entrypoint, input }
  let { parts, interrupted, timeoutMs } = await runModule({ ...question, bundle: null }, asker)
  if ((parts[0] as ModuleAnswer | undefined)?.type === 'unknown') {
    const bundle = await findBundle(sha256)
    if (bundle === null) return createErrorVerdict("The policy's bundle is not stored")
    ;({ parts, interrupted, timeoutMs } = await runModule({ ...question, bundle }, asker))
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

/**
 * Child processes for policies, each of which starts with its first question, and requests to the
 * OPA server, which take none.
 */
function openQueues({ processes, requests }: { processes: number; requests: number }) {
  const startProcess = () => new BoundedProcess<Question, Part>(new URL('./policy-process.ts', import.meta.url))
  return {
    processes: new PolicyQueue(Array.from({ length: processes }, startProcess), budget),
    requests: new PolicyQueue(
      Array.from({ length: requests }, () => null),
      budget,
    ),
  }
}

const queues = openQueues({ processes: PROCESSES, requests: REQUESTS_MAX })
/** Policies in files of repositories hold up none that an organization has applied. */
const repositoryQueues = openQueues({ processes: PROCESSES / 2, requests: REQUESTS_MAX / 2 })

function getQueues({ isRepository }: PolicyAsker) {
  return isRepository ? repositoryQueues : queues
}

function askProcess(asker: PolicyAsker, question: Question) {
  return getQueues(asker).processes.run(asker, async (child, leftMs) => {
    const timeoutMs = Math.ceil(Math.min(POLICY_TIMEOUT_MS, leftMs))
    let usedMs = 0
    const answer = await child.ask(question, timeoutMs, (ms) => {
      usedMs = ms
    })
    return { answer: { ...answer, timeoutMs }, usedMs }
  })
}

/** `note` is told the time that the server has worked. */
function askServer(
  asker: PolicyAsker,
  evaluate: (note: (usedMs: number) => void) => Promise<RuleVerdict[]>,
): Promise<RuleVerdict[]> {
  return getQueues(asker).requests.run(asker, async (_slot, leftMs) => {
    let usedMs: number | null = null
    const late = delay(Math.ceil(leftMs) + 1, undefined, { ref: false }).then(() =>
      Promise.reject(new EvaluationTimeError()),
    )
    const answer = await Promise.race([
      evaluate((ms) => {
        usedMs = (usedMs ?? 0) + ms
      }),
      late,
    ])
    return { answer, usedMs }
  })
}

export function runModule(question: Omit<ModuleQuestion, 'type'>, asker = new PolicyAsker(null)) {
  return askProcess(asker, { type: 'wasm', ...question })
}

import { type LoadedPolicy, loadPolicy } from '@open-policy-agent/opa-wasm'
import { serveQuestions } from '../../platform/processes.ts'
import { filterEvidence } from '../policies/evidence-view.ts'
import type { CelRule, EvidenceTerms, PolicyBundle } from '../policies/policy.schema.ts'
import type { PolicyInput } from '../policies/policy-input.schema.ts'
import type { RuleAnswer } from '../policies/policy-verdict.ts'
import { evaluateExpression, toCelInput } from './cel-expression.ts'
import type { ModuleAnswer, ModuleQuestion, Part, Question } from './evaluate-policy.ts'

/** Entry point of the child process that runs organizations' rules and modules within limits. */
serveQuestions<Question, Part>(async function* (question) {
  if (question.type === 'cel') yield* answerRules(question.rules, question.input)
  else yield await answerModule(question)
})

/** Answers a policy's rules in their order. Each rule sees only the evidence that it accepts. */
function* answerRules(rules: readonly CelRule[], input: PolicyInput): Generator<RuleAnswer> {
  const views = new Map<string, { view: PolicyInput; cel: Record<string, unknown> }>()
  for (const rule of rules) {
    const { trust, max_age_ms, absent_evidence, evidence, tools } = rule
    const key = JSON.stringify([trust, max_age_ms, absent_evidence, evidence, tools])
    let known = views.get(key)
    if (known === undefined) {
      const view = filterEvidence(input, rule)
      known = { view, cel: toCelInput(view) }
      views.set(key, known)
    }
    yield withHint(evaluateExpression(rule.expression, known.cel, known.view), rule, input, known.view)
  }
}

const HINTS: Record<string, string> = {
  self_reported: 'Self-reported evidence is ignored unless the rule has trust: any.',
  untrusted: 'Untrusted evidence is ignored unless the rule has trust: any.',
}
const FOREIGN_HINT = 'Untrusted evidence about the tracked branch is ignored.'

/** Adds a hint to an error that ignored evidence may have caused. */
function withHint(answer: RuleAnswer, { trust }: EvidenceTerms, input: PolicyInput, view: PolicyInput): RuleAnswer {
  const isIgnored = input.run !== null && view.run === null
  const hint = isIgnored && trust === 'any' ? FOREIGN_HINT : isIgnored ? HINTS[input.run?.trust ?? ''] : undefined
  if (answer.status !== 'error' || hint === undefined) return answer
  return { ...answer, reason: `${answer.reason}. ${hint}` }
}

/** In pages of 64 KiB. The maximum is 128 MiB. */
const MEMORY = { initial: 16, maximum: 2048 }
const LOADED_MAX = 20
const KEPT_BYTES_MAX = 16 * 1024 * 1024
const loaded = new Map<string, LoadedPolicy>()

/** Evaluates a WebAssembly policy in the child process (OPA documentation, "WebAssembly"). */
async function answerModule(question: Omit<ModuleQuestion, 'type'>): Promise<ModuleAnswer> {
  const { sha256, bundle, entrypoint, input } = question
  if (bundle === null && !loaded.has(sha256)) return { type: 'unknown' }
  try {
    const policy = loaded.get(sha256) ?? (await load(bundle as PolicyBundle))
    if (!Object.hasOwn(policy.entrypoints, entrypoint)) {
      const known = Object.keys(policy.entrypoints).join(', ')
      return { type: 'failed', reason: `no entrypoint ${entrypoint}; the entrypoints are ${known}` }
    }
    const [answer] = policy.evaluate(input, entrypoint) as { result?: unknown }[]
    keep(sha256, policy)
    return { type: 'result', result: answer?.result }
  } catch (error) {
    return { type: 'failed', reason: error instanceof Error ? error.message : String(error) }
  }
}

async function load({ wasm, data }: PolicyBundle): Promise<LoadedPolicy> {
  const policy = await loadPolicy(wasm as Uint8Array<ArrayBuffer>, MEMORY)
  policy.setData(data as object)
  return policy
}

/** Keeps the modules used last. Drops large ones, because their memory never shrinks. */
function keep(sha256: string, policy: LoadedPolicy): void {
  loaded.delete(sha256)
  if (policy.mem.buffer.byteLength <= KEPT_BYTES_MAX) loaded.set(sha256, policy)
  for (const [oldest] of loaded) if (loaded.size > LOADED_MAX) loaded.delete(oldest)
}

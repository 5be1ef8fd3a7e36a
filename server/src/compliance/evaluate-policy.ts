import type { Services } from '../services.ts'
import { askOpa, OpaError } from './engines/ask-opa.ts'
import { askRules, POLICY_TIMEOUT_MS } from './engines/policy-questions.ts'
import { policyError, readVerdicts } from './engines/read-verdicts.ts'
import { errorAnswer, type RuleAnswer } from './engines/rule-answer.ts'
import { evaluateModule, type FindBundle } from './evaluate-module.ts'
import { viewOf } from './input-view.ts'
import type { CelRule, PolicyEngine } from './policy.schema.ts'
import type { RuleVerdict } from './policy-evaluation.ts'
import type { PolicyInput } from './policy-input.schema.ts'

/** What a policy's rules say of an input. Whatever goes wrong becomes an `error`, which never passes. */
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
      return evaluateDecision(services, engine.decision, viewOf(input, engine))
    case 'wasm':
      return evaluateModule(engine, viewOf(input, engine), findBundle)
  }
}

async function evaluateRules(rules: CelRule[], input: PolicyInput): Promise<RuleVerdict[]> {
  const { parts, interrupted } = await askRules({ rules, input })
  const answers = parts as RuleAnswer[]
  return rules.map((rule, index) =>
    toVerdict(rule, answers[index] ?? errorAnswer(interruption(rules, answers.length, index, interrupted))),
  )
}

/** Rules are answered in their order, so the first without an answer is the one that took too much. */
function interruption(rules: CelRule[], answered: number, index: number, interrupted: string | null): string {
  const bound = interrupted === 'timeout' ? `more than ${POLICY_TIMEOUT_MS} ms` : 'too much memory'
  if (index === answered) return `The rule took ${bound}, those before it included`
  return `Not evaluated, because the rule ${rules[answered]?.rule} before it took ${bound}`
}

/** The file's own reason is what people read, unless the rule says more. */
function toVerdict({ rule, name, blocking, reason }: CelRule, answer: RuleAnswer): RuleVerdict {
  const { status, evidence } = answer
  const why = status === 'fail' || status === 'warn' ? (answer.reason ?? reason) : answer.reason
  return { rule, name, status, blocking, reason: status === 'pass' ? null : why, evidence }
}

async function evaluateDecision(
  { config, log }: Pick<Services, 'config' | 'log'>,
  decision: string,
  input: PolicyInput,
): Promise<RuleVerdict[]> {
  if (config.opaUrl === null) return policyError('No OPA server is configured: SHIPLOCK_OPA_URL is not set')
  try {
    return readVerdicts(await askOpa(config.opaUrl, decision, input))
  } catch (err) {
    if (!(err instanceof OpaError)) throw err
    log.warn({ err, decision }, 'OPA gave no decision')
    return policyError(err.message)
  }
}

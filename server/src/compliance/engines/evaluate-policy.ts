import type { Services } from '../../services.ts'
import { viewOf } from '../input/evidence-view.ts'
import type { PolicyInput } from '../input/policy-input.schema.ts'
import type { CelRule, PolicyEngine } from '../policies/policy.schema.ts'
import { errorAnswer, type RuleAnswer, type RuleVerdict } from '../policies/policy-verdict.ts'
import { evaluateDecision } from './evaluate-decision.ts'
import { evaluateModule, type FindBundle } from './evaluate-module.ts'
import { askRules, POLICY_TIMEOUT_MS } from './policy-questions.ts'

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
      return evaluateDecision(services, engine.decision, viewOf(input, engine))
    case 'wasm':
      return evaluateModule(engine, viewOf(input, engine), findBundle)
  }
}

/** Evaluates a policy's CEL rules. A rule that the process did not answer is an error. */
async function evaluateRules(rules: CelRule[], input: PolicyInput): Promise<RuleVerdict[]> {
  const { parts, interrupted } = await askRules({ rules, input })
  const answers = parts as RuleAnswer[]
  const limit = interrupted === 'timeout' ? `more than ${POLICY_TIMEOUT_MS} ms` : 'too much memory'
  const unanswered = (index: number) => errorAnswer(whyUnanswered(rules, answers.length, index, limit))
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

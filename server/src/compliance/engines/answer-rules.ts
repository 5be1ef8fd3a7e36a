import { celInput } from '../cel/cel-environment.ts'
import { evaluateExpression } from '../cel/evaluate-expression.ts'
import { type EvidenceTerms, viewOf } from '../input-view.ts'
import type { CelRule } from '../policy.schema.ts'
import type { PolicyInput } from '../policy-input.schema.ts'
import type { RuleAnswer } from './rule-answer.ts'

/** The answers of a policy's rules in their order, each on what the rule may see. */
export function* answerRules(rules: readonly CelRule[], input: PolicyInput): Generator<RuleAnswer> {
  const views = new Map<string, { view: PolicyInput; cel: Record<string, unknown> }>()
  for (const rule of rules) {
    const key = `${rule.trust} ${rule.max_age_ms}`
    const seen = views.get(key) ?? bothForms(viewOf(input, rule))
    views.set(key, seen)
    yield withHint(evaluateExpression(rule.expression, seen.cel, seen.view), rule, input)
  }
}

function bothForms(view: PolicyInput) {
  return { view, cel: celInput(view) }
}

const HINT = 'What a job says of its own run is left out, unless the rule says trust: any.'

/** A rule that fails for want of self-reported evidence has usually forgotten that it asked for none. */
function withHint(answer: RuleAnswer, { trust }: EvidenceTerms, input: PolicyInput): RuleAnswer {
  const isLeftOut = trust !== 'any' && input.run?.trust === 'self_reported'
  if (answer.status !== 'error' || !isLeftOut) return answer
  return { ...answer, reason: `${answer.reason}. ${HINT}` }
}

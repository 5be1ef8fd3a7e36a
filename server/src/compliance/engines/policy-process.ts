import { serveQuestions } from '../../platform/processes/serve-questions.ts'
import { celInput } from '../cel/cel-environment.ts'
import { evaluateExpression } from '../cel/cel-expression.ts'
import { viewOf } from '../input/evidence-view.ts'
import type { PolicyInput } from '../input/policy-input.schema.ts'
import type { CelRule, EvidenceTerms } from '../policies/policy.schema.ts'
import type { RuleAnswer } from '../policies/policy-verdict.ts'
import { answerModule } from './answer-module.ts'
import type { Part, Question } from './policy-questions.ts'

/** Entry point of the child process that runs organizations' rules and modules within limits. */
serveQuestions<Question, Part>(async function* (question) {
  if (question.type === 'cel') yield* answerRules(question.rules, question.input)
  else yield await answerModule(question)
})

/** Answers a policy's rules in their order. Each rule sees only the evidence that it accepts. */
function* answerRules(rules: readonly CelRule[], input: PolicyInput): Generator<RuleAnswer> {
  const views = new Map<string, { view: PolicyInput; cel: Record<string, unknown> }>()
  for (const rule of rules) {
    const key = `${rule.trust} ${rule.max_age_ms}`
    const known = views.get(key) ?? viewWithCel(viewOf(input, rule))
    views.set(key, known)
    yield withHint(evaluateExpression(rule.expression, known.cel, known.view), rule, input)
  }
}

function viewWithCel(view: PolicyInput) {
  return { view, cel: celInput(view) }
}

const HINT = 'Self-reported evidence is ignored unless the rule has trust: any.'

/** Adds a hint to an error that missing self-reported evidence may have caused. */
function withHint(answer: RuleAnswer, { trust }: EvidenceTerms, input: PolicyInput): RuleAnswer {
  const isIgnored = trust !== 'any' && input.run?.trust === 'self_reported'
  if (answer.status !== 'error' || !isIgnored) return answer
  return { ...answer, reason: `${answer.reason}. ${HINT}` }
}

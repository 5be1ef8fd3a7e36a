import type { Services } from '../../services.ts'
import { viewOf } from '../input/evidence-view.ts'
import type { PolicyInput } from '../input/policy-input.schema.ts'
import type { PolicyEngine } from '../policies/policy.schema.ts'
import type { RuleVerdict } from '../policies/rule-verdict.ts'
import { evaluateDecision } from './evaluate-decision.ts'
import { evaluateModule, type FindBundle } from './evaluate-module.ts'
import { evaluateRules } from './evaluate-rules.ts'

/** Evaluates a policy's rules on an input. Every failure of an engine becomes an `error` verdict. */
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

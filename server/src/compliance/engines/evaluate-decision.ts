import type { Services } from '../../services.ts'
import type { PolicyInput } from '../input/policy-input.schema.ts'
import { createErrorVerdict, type RuleVerdict } from '../policies/policy-verdict.ts'
import { fetchOpaDecision, OpaError } from './opa-server.ts'
import { readVerdicts } from './read-verdicts.ts'

/** Evaluates a policy on the OPA server. A failure is logged and becomes an `error` verdict. */
export async function evaluateDecision(
  { config, log }: Pick<Services, 'config' | 'log'>,
  decision: string,
  input: PolicyInput,
): Promise<RuleVerdict[]> {
  return withOpa({ config, log }, decision, async (url) => readVerdicts(await fetchOpaDecision(url, decision, input)))
}

/** Calls `evaluate` with the address of the OPA server. `policy` names the policy in the log. */
export async function withOpa(
  { config, log }: Pick<Services, 'config' | 'log'>,
  policy: string,
  evaluate: (url: string) => Promise<RuleVerdict[]>,
): Promise<RuleVerdict[]> {
  if (config.opaUrl === null) return createErrorVerdict('No OPA server is configured: SHIPLOCK_OPA_URL is not set')
  try {
    return await evaluate(config.opaUrl)
  } catch (err) {
    if (!(err instanceof OpaError)) throw err
    log.warn({ err, policy }, 'The OPA server returned no decision')
    return createErrorVerdict(err.message)
  }
}

import { askModule, type ModuleAnswer, POLICY_TIMEOUT_MS } from './engines/policy-questions.ts'
import { policyError, readVerdicts } from './engines/read-verdicts.ts'
import type { PolicyEngine } from './policy.schema.ts'
import type { PolicyBundle } from './policy-bundle.ts'
import type { RuleVerdict } from './policy-evaluation.ts'
import type { PolicyInput } from './policy-input.schema.ts'

/** The stored bundle of that hash; null where there is none. */
export type FindBundle = (sha256: string) => Promise<PolicyBundle | null>

type WasmEngine = Extract<PolicyEngine, { type: 'wasm' }>

/** What a policy compiled to WebAssembly says. The process keeps modules, so their bytes are only sent where it asks. */
export async function evaluateModule(
  { bundle: sha256, entrypoint }: Pick<WasmEngine, 'bundle' | 'entrypoint'>,
  input: PolicyInput,
  findBundle: FindBundle,
): Promise<RuleVerdict[]> {
  const question = { sha256, entrypoint, input }
  let { parts, interrupted } = await askModule({ ...question, bundle: null })
  if ((parts[0] as ModuleAnswer | undefined)?.type === 'unknown') {
    const bundle = await findBundle(sha256)
    if (bundle === null) return policyError('The bundle of the policy is not stored')
    ;({ parts, interrupted } = await askModule({ ...question, bundle }))
  }
  if (interrupted === 'timeout') return policyError(`The policy took more than ${POLICY_TIMEOUT_MS} ms`)
  if (interrupted === 'died') return policyError('The policy took too much memory')
  return toVerdicts(parts[0] as ModuleAnswer)
}

function toVerdicts(answer: ModuleAnswer): RuleVerdict[] {
  if (answer.type === 'result') return readVerdicts(answer.result)
  return policyError(answer.type === 'failed' ? `The module failed: ${answer.reason}` : 'The module was not kept')
}

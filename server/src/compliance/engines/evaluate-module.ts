import type { PolicyInput } from '../input/policy-input.schema.ts'
import type { PolicyBundle, PolicyEngine } from '../policies/policy.schema.ts'
import { policyError, type RuleVerdict } from '../policies/policy-verdict.ts'
import { askModule, type ModuleAnswer, POLICY_TIMEOUT_MS } from './policy-questions.ts'
import { readVerdicts } from './read-verdicts.ts'

/** Returns the stored bundle with that SHA-256, or null. */
export type FindBundle = (sha256: string) => Promise<PolicyBundle | null>

type WasmEngine = Extract<PolicyEngine, { type: 'wasm' }>

/** Evaluates a WebAssembly policy. Fetches its bundle only if the process has not loaded it. */
export async function evaluateModule(
  { bundle: sha256, entrypoint }: Pick<WasmEngine, 'bundle' | 'entrypoint'>,
  input: PolicyInput,
  findBundle: FindBundle,
): Promise<RuleVerdict[]> {
  const question = { sha256, entrypoint, input }
  let { parts, interrupted } = await askModule({ ...question, bundle: null })
  if ((parts[0] as ModuleAnswer | undefined)?.type === 'unknown') {
    const bundle = await findBundle(sha256)
    if (bundle === null) return policyError("The policy's bundle is not stored")
    ;({ parts, interrupted } = await askModule({ ...question, bundle }))
  }
  if (interrupted === 'timeout') return policyError(`The policy took more than ${POLICY_TIMEOUT_MS} ms`)
  if (interrupted === 'died') return policyError('The policy took too much memory')
  return toVerdicts(parts[0] as ModuleAnswer)
}

function toVerdicts(answer: ModuleAnswer): RuleVerdict[] {
  if (answer.type === 'result') return readVerdicts(answer.result)
  return policyError(answer.type === 'failed' ? `The module failed: ${answer.reason}` : 'The module was not loaded')
}

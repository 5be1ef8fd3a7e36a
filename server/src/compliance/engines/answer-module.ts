import { type LoadedPolicy, loadPolicy } from '@open-policy-agent/opa-wasm'
import type { PolicyBundle } from '../policies/policy.schema.ts'
import type { ModuleAnswer, ModuleQuestion } from './policy-questions.ts'

/** In pages of 64 KiB. The maximum is 128 MiB. */
const MEMORY = { initial: 16, maximum: 2048 }
const LOADED_MAX = 20
const KEPT_BYTES_MAX = 16 * 1024 * 1024
const loaded = new Map<string, LoadedPolicy>()

/** Evaluates a WebAssembly policy in the child process (OPA documentation, "WebAssembly"). */
export async function answerModule(question: Omit<ModuleQuestion, 'type'>): Promise<ModuleAnswer> {
  const { sha256, bundle, entrypoint, input } = question
  if (bundle === null && !loaded.has(sha256)) return { type: 'unknown' }
  try {
    const policy = loaded.get(sha256) ?? (await load(bundle as PolicyBundle))
    if (!Object.hasOwn(policy.entrypoints, entrypoint)) return refuse(entrypoint, policy.entrypoints)
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

function refuse(entrypoint: string, entrypoints: object): ModuleAnswer {
  const known = Object.keys(entrypoints).join(', ')
  return { type: 'failed', reason: `no entrypoint ${entrypoint}; the entrypoints are ${known}` }
}

import { readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type ModuleAnswer, runModule } from '../engines/evaluate-policy.ts'
import type { PolicyToApply } from '../policies/apply-policy.ts'
import type { PolicyBundle } from '../policies/policy.schema.ts'
import { createEmptyInput } from '../policies/policy-input.schema.ts'
import { BUNDLE_BYTES_MAX, hashBundle, parseBundle } from './bundle.parser.ts'
import { parsePolicyFile } from './policy.parser.ts'
import { POLICY_FILE_BYTES_MAX } from './policy-document.ts'

/**
 * Reads a policy file and its bundle. Throws `PolicyFileError`, or an error that names the file.
 */
export async function readPolicyFile(path: string): Promise<PolicyToApply> {
  const source = (await readBounded(path, POLICY_FILE_BYTES_MAX)).toString()
  const { engine, ...policy } = parsePolicyFile(source)
  if (engine.type !== 'wasm') return { definition: { ...policy, engine }, source, bundle: null, file: null }
  const { type, file, entrypoint, ...terms } = engine
  const bundlePath = resolve(dirname(path), file)
  const bundle = await parseBundle(await readBounded(bundlePath, BUNDLE_BYTES_MAX), bundlePath)
  const sha256 = hashBundle(bundle)
  await tryBundle(bundle, sha256, entrypoint, bundlePath)
  const definition = { ...policy, engine: { type, bundle: sha256, entrypoint, ...terms } }
  return { definition, source, bundle, file: null }
}

/** Evaluates the entrypoint once on an empty input, within the usual limits. */
async function tryBundle(bundle: PolicyBundle, sha256: string, entrypoint: string, path: string): Promise<void> {
  const { parts } = await runModule({ sha256, bundle, entrypoint, input: createEmptyInput(new Date(0)) })
  const answer = parts[0] as ModuleAnswer | undefined
  if (answer?.type === 'failed') throw new Error(`${path}: ${answer.reason}`)
  if (answer === undefined) throw new Error(`${path}: the policy takes too much time or memory`)
}

async function readBounded(path: string, bytesMax: number): Promise<Buffer> {
  const { size } = await stat(path)
  if (size > bytesMax) throw new Error(`${path} has ${size} bytes; the limit is ${bytesMax}`)
  return readFile(path)
}

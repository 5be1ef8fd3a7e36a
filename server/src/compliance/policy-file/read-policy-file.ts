import { readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { PolicyDefinition } from '../policy.schema.ts'
import { bundleDigest, type PolicyBundle } from '../policy-bundle.ts'
import { BUNDLE_BYTES_MAX, parseBundle } from './bundle.parser.ts'
import { checkBundle } from './check-bundle.ts'
import type { EngineFile } from './engine-fields.ts'
import { POLICY_FILE_BYTES_MAX, parsePolicyFile } from './policy.parser.ts'

export type ReadPolicy = { definition: PolicyDefinition; bundle: PolicyBundle | null }

/** Reads a policy file and the bundle that it names. Throws `PolicyFileError`, or an error that names the file. */
export async function readPolicyFile(path: string): Promise<ReadPolicy> {
  const { engine, ...policy } = parsePolicyFile((await readBounded(path, POLICY_FILE_BYTES_MAX)).toString())
  if (engine.type !== 'wasm') return { definition: { ...policy, engine }, bundle: null }
  const { bundle, sha256 } = await readBundle(engine, dirname(path))
  const { type, entrypoint, trust, max_age_ms } = engine
  return { definition: { ...policy, engine: { type, bundle: sha256, entrypoint, trust, max_age_ms } }, bundle }
}

async function readBundle({ file, entrypoint }: Extract<EngineFile, { type: 'wasm' }>, directory: string) {
  const path = resolve(directory, file)
  const bundle = parseBundle(await readBounded(path, BUNDLE_BYTES_MAX), path)
  const sha256 = bundleDigest(bundle)
  await checkBundle(bundle, sha256, entrypoint, path)
  return { bundle, sha256 }
}

async function readBounded(path: string, bytesMax: number): Promise<Buffer> {
  const { size } = await stat(path)
  if (size > bytesMax) throw new Error(`${path} has ${size} bytes; at most ${bytesMax} are read`)
  return readFile(path)
}

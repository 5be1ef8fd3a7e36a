import type { PolicyDefinition } from '../policies/policy.schema.ts'
import { EVERYTHING } from '../policies/policy-binding.ts'
import { parsePolicyFile } from './policy.parser.ts'
import { createFileError } from './policy-document.ts'
import { parseRego } from './rego.parser.ts'

/**
 * Parses a policy file of a repository. It covers its own repository: everything that is deployed
 * from there, or what its bindings name. Throws `PolicyFileError`.
 */
export function parseRepositoryPolicy(path: string, text: string): PolicyDefinition {
  return path.endsWith('.rego') ? parseRego(text) : parseYaml(text)
}

function parseYaml(text: string): PolicyDefinition {
  const { engine, bindings, ...policy } = parsePolicyFile(text)
  if (engine.type === 'wasm') throw createFileError('engine: wasm is not supported in a repository; use "policy apply"')
  if (engine.type === 'opa')
    throw createFileError('engine: opa is not supported in a repository; write a .rego file instead')
  if (bindings !== null && !Array.isArray(bindings) && bindings.repositories !== null)
    throw createFileError(
      'bindings.repositories: a policy in a repository covers that repository only; remove the field',
    )
  return { ...policy, bindings: bindings ?? EVERYTHING, engine }
}

/** The folders whose files are policies, with the ends of their names. */
const FOLDERS = [
  { path: '.shiplock/policies', endings: ['.yaml', '.yml', '.rego'] },
  { path: '.prodgator/policies', endings: ['.rego'] },
]

export const POLICY_FOLDERS: readonly string[] = FOLDERS.map(({ path }) => path)

/** Tests of Rego modules (OPA documentation, "Policy testing") lie beside them. */
const REGO_TEST = /_test\.rego$/

/** True if a file in one of the folders is a policy. */
export function isPolicyFile(path: string): boolean {
  const folder = FOLDERS.find(({ path: start }) => path.startsWith(`${start}/`))
  const isNamedSo = folder?.endings.some((ending) => path.endsWith(ending)) ?? false
  return isNamedSo && !REGO_TEST.test(path)
}

import { matchesAnyGlob } from '../../platform/glob.ts'
import { matchesRepository } from '../../repositories/repository-identity.ts'
import type { PolicyBindings, PolicyDefinition } from './policy.schema.ts'

type Definition = Pick<PolicyDefinition, 'bindings'>
type Target = { environment: string; repository: string; branch: string | null }

/**
 * Whether a policy's bindings cover a deployment. A stored definition that cannot be read is null
 * and counts as covering everything, because its bindings are unknown.
 */
export function coversDeployment(definition: Definition | null, { environment, repository, branch }: Target): boolean {
  if (!coversRepository(definition, repository)) return false
  const bindings = definition?.bindings
  if (!bindings) return true
  const { environments } = bindings
  return (environments === null || matchesAnyGlob(environments, environment)) && coversBranch(bindings, branch)
}

/** Whether a policy's bindings cover a repository. A policy without bindings covers none. */
export function coversRepository(definition: Definition | null, repository: string): boolean {
  if (definition === null) return true
  if (definition.bindings === null) return false
  return definition.bindings.repositories?.some((pattern) => matchesRepository(pattern, repository)) ?? true
}

/** Whether bindings cover a branch. Null means a tag, which only `*` matches. */
export function coversBranch({ branches }: PolicyBindings, branch: string | null): boolean {
  return branches === null || matchesAnyGlob(branches, branch ?? '')
}

import { matchesAnyGlob } from '../platform/glob.ts'
import { matchesRepository } from '../repositories/repository-pattern.ts'
import type { PolicyBindings } from './policy.schema.ts'

type Place = { environment: string; repository: string; branch: string | null }

/** Does a policy cover a deployment by itself? */
export function coversDeployment(bindings: PolicyBindings | null, { environment, repository, branch }: Place): boolean {
  if (bindings === null || !coversRepository(bindings, repository)) return false
  const { environments } = bindings
  return (environments === null || matchesAnyGlob(environments, environment)) && coversBranch(bindings, branch)
}

export function coversRepository(bindings: PolicyBindings | null, repository: string): boolean {
  if (bindings === null) return false
  return bindings.repositories?.some((pattern) => matchesRepository(pattern, repository)) ?? true
}

/** Where branches are named, what has none, like a tag, is only covered by `*`. */
export function coversBranch({ branches }: PolicyBindings, branch: string | null): boolean {
  return branches === null || matchesAnyGlob(branches, branch ?? '')
}

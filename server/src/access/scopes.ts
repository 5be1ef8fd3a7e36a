import type { ApiError } from '../platform/http/api-error.ts'
import { invalidRequest } from '../platform/http/errors.ts'

/** All scopes of API keys (specification, "Authentication" 3). */
export const SCOPES = [
  'read:pipelines',
  'read:deployments',
  'write:deployments',
  'read:security',
  'write:security-findings',
  'read:compliance',
  'read:attestations',
  'write:ci',
  'write:compliance-override',
] as const

export type Scope = (typeof SCOPES)[number]

function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text)
}

/**
 * Returns the named scopes without duplicates, in the order of `SCOPES`. Throws 400
 * `invalid_request`.
 */
export function requireScopes(names: readonly string[]): Scope[] {
  const unknown = names.find((name) => !isScope(name))
  if (unknown !== undefined) throw invalid(`Scope "${unknown}" does not exist`)
  if (names.length === 0) throw invalid('A key must have at least one scope')
  return SCOPES.filter((scope) => names.includes(scope))
}

function invalid(problem: string): ApiError {
  return invalidRequest(`${problem}; the scopes are ${SCOPES.join(', ')}`)
}

import { ApiError } from '../../platform/http/errors.ts'
import { isScope, SCOPES, type Scope } from '../scopes.ts'

/** The scopes that a new key asks for, each once and in the catalogue's order. Throws 400 with the names there are. */
export function requireScopes(names: readonly string[]): Scope[] {
  const unknown = names.find((name) => !isScope(name))
  if (unknown !== undefined) throw invalid(`There is no scope "${unknown}"`)
  if (names.length === 0) throw invalid('A key needs at least one scope')
  return SCOPES.filter((scope) => names.includes(scope))
}

function invalid(problem: string): ApiError {
  return new ApiError(400, 'invalid_request', `${problem}; the scopes are ${SCOPES.join(', ')}`)
}

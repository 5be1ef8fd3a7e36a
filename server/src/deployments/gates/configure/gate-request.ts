import { globMistake } from '../../../platform/glob.ts'
import { ApiError } from '../../../platform/http/errors.ts'

/** A gate as an administrator asks for it. Patterns are globs; null covers everything. */
export type GateRequest = {
  name: string
  environment: string
  repository: string | null
  branch: string | null
  /** How many principals have to approve. */
  requiredApprovals: number
  /** May API keys answer it? Else only people. */
  allowApiKeys: boolean
  /** May the credential that reported the run answer it, too? */
  allowRunCreator: boolean
  /** Names of the policies that it asks beside those that cover the environment anyway. */
  policies: string[]
}

const NAME_CHARS_MAX = 100
export const REQUIRED_APPROVALS_MAX = 20
const POLICIES_MAX = 20

/** The request in the form in which it is stored. Throws 400 for what no gate can be. */
export function requireGate(request: GateRequest): GateRequest {
  const { requiredApprovals: approvals } = request
  for (const part of ['environment', 'repository', 'branch'] as const) requireGlob(part, request[part])
  if (!Number.isInteger(approvals) || approvals < 1 || approvals > REQUIRED_APPROVALS_MAX)
    throw invalid(`A gate needs 1 to ${REQUIRED_APPROVALS_MAX} approvals`)
  const policies = [...new Set(request.policies.map((name) => requireName('policy', name)))]
  if (policies.length > POLICIES_MAX) throw invalid(`A gate asks at most ${POLICIES_MAX} policies`)
  return { ...request, name: requireName('gate', request.name), policies }
}

function requireGlob(part: string, pattern: string | null): void {
  const mistake = pattern === null ? null : globMistake(pattern)
  if (mistake !== null) throw invalid(`The ${part} is not a pattern: ${mistake}`)
}

function requireName(of: string, name: string): string {
  const trimmed = name.trim()
  if (trimmed.length >= 1 && trimmed.length <= NAME_CHARS_MAX && !/\p{Cc}/u.test(trimmed)) return trimmed
  throw invalid(`A ${of}'s name has 1 to ${NAME_CHARS_MAX} characters`)
}

function invalid(message: string): ApiError {
  return new ApiError(400, 'invalid_request', message)
}

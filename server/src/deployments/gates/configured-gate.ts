import { validateGlob } from '../../platform/glob.ts'
import { createInvalidFieldError, invalidRequest } from '../../platform/http/errors.ts'
import {
  GATE_NAME_CHARS_MAX,
  GATE_POLICIES_MAX,
  type GateSettings,
  type GivenGate,
  REQUIRED_APPROVALS_MAX,
} from './configured-gate.schema.ts'

/**
 * Returns the settings with trimmed, unique names, and with whether policies approve. \`before\` is
 * the gate that they change; null for a new one. Throws 400 `invalid_request`.
 */
export function requireGate(settings: GivenGate, before: GateSettings | null): GateSettings {
  const { required_approvals: approvals } = settings
  for (const field of ['environment', 'repository', 'branch'] as const) {
    const pattern = settings[field]
    const mistake = pattern === null ? null : validateGlob(pattern)
    if (mistake !== null) throw invalidRequest(`The ${field} is not a valid pattern: ${mistake}`)
  }
  if (!Number.isInteger(approvals) || approvals < 1 || approvals > REQUIRED_APPROVALS_MAX)
    throw invalidRequest(`A gate requires 1 to ${REQUIRED_APPROVALS_MAX} approvals`)
  const policies = [...new Set(settings.policies.map((name) => requireName('policy', name)))]
  if (policies.length > GATE_POLICIES_MAX) throw invalidRequest(`A gate can have at most ${GATE_POLICIES_MAX} policies`)
  const approve_by_policies = requireApproveByPolicies({ ...settings, policies }, before)
  return { ...settings, name: requireName('gate', settings.name), policies, approve_by_policies }
}

const FIELD = '/body/approve_by_policies'

/**
 * A change never lets policies approve silently: a gate where people answer keeps that when it
 * names policies, and one that no longer names any is answered by people.
 */
function requireApproveByPolicies(
  { approve_by_policies: given, policies, required_approvals }: GivenGate,
  before: GateSettings | null,
) {
  const isNaming = policies.length > 0
  const mayCover = before?.approve_by_policies === 'covering' && !isNaming && required_approvals === 1
  if (given === undefined) {
    if (before === null) return isNaming
    if (before.approve_by_policies === 'covering') return isNaming || (mayCover && 'covering')
    return before.approve_by_policies && isNaming
  }
  if (given === true && !isNaming)
    throw createInvalidFieldError(FIELD, 'is for gates that name policies: only those can approve it')
  if (given === 'covering' && !mayCover)
    throw createInvalidFieldError(FIELD, 'cannot be set to covering: name the policies that approve the gate')
  return given
}

function requireName(of: string, name: string): string {
  const trimmed = name.trim()
  if (trimmed.length >= 1 && trimmed.length <= GATE_NAME_CHARS_MAX && !/\p{Cc}/u.test(trimmed)) return trimmed
  throw invalidRequest(`A ${of} name must have 1 to ${GATE_NAME_CHARS_MAX} characters and no control characters`)
}

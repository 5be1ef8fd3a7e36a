import { type Author, OPERATOR } from '../audit/audit.store.ts'
import { insufficientPermission } from '../errors/organizations.ts'
import { DAY_MS, DURATION_DAYS_MAX } from '../platform/clock.ts'
import type { Tx } from '../platform/db/sql.ts'
import { GLOB_CHARS_MAX, validateGlob } from '../platform/glob.ts'
import type { ApiError } from '../platform/http/api-error.ts'
import { createInvalidFieldError, invalidRequest } from '../platform/http/errors.ts'
import type { SpeaksFor } from './oidc-trusts/token-job.ts'
import { PERMISSIONS, type Permission } from './role.ts'

/** All scopes of API keys (specification, "Authentication" 3). */
export const SCOPES = [
  'read:pipelines',
  'read:deployments',
  'write:deployments',
  'read:security',
  'write:security-findings',
  'write:triage',
  'read:compliance',
  'read:attestations',
  'write:ci',
  'write:compliance-override',
] as const

export type Scope = (typeof SCOPES)[number]

/**
 * Returns the named scopes without duplicates, in the order of `SCOPES`. Throws 400
 * `invalid_request`.
 */
export function requireScopes(names: readonly string[]): Scope[] {
  const unknown = names.find((name) => !(SCOPES as readonly string[]).includes(name))
  if (unknown !== undefined) throw invalid(`Scope "${unknown}" does not exist`)
  if (names.length === 0) throw invalid('A key must have at least one scope')
  return SCOPES.filter((scope) => names.includes(scope))
}

function invalid(problem: string): ApiError {
  return invalidRequest(`${problem}; the scopes are ${SCOPES.join(', ')}`)
}

/** A credential, as far as it determines what it reaches. */
type Reaching = {
  /** A CI job whose code strangers may have changed is `untrusted`. */
  speaks_as: 'api_key' | 'job' | 'untrusted'
  scopes: readonly string[]
  /** Globs of the repositories that it speaks about; null for all. */
  repositories: readonly string[] | null
  /** What a job may state about other repositories; absent for an API key. */
  others?: SpeaksFor
}

/**
 * What a credential reaches, in words (trust §3): "may report …; may close …; may answer …". A lane
 * closes only what was stated in it.
 */
export function formatReach({ speaks_as, scopes, repositories, others }: Reaching): string {
  const isKey = speaks_as === 'api_key'
  const all = repositories === null ? 'all repositories' : repositories.join(', ')
  const lane = { api_key: 'as an API key', job: 'as verified', untrusted: 'as untrusted' }[speaks_as]
  const about = isKey
    ? all
    : speaks_as === 'job'
      ? 'its run, and others of its repository as an API key'
      : 'its run only'
  const sentences: [scope: string, says: string][] = [
    ['write:ci', `may report runs and evidence about ${about}, ${lane}; may open gates`],
    ['write:security-findings', `may add security reports about ${isKey ? all : 'its repository'}, ${lane}`],
    ['write:security-findings', `may close findings of earlier reports sent ${lane}, and of no others`],
    ['write:triage', `may dismiss, reopen and close findings of ${all}, whoever reported them`],
    ['write:deployments', `may answer gates of ${all} that let API keys in`],
    ['write:compliance-override', 'may override policies where it answers'],
  ]
  const said = sentences.flatMap(([scope, says]) => (scopes.includes(scope) ? [says] : []))
  const isCentral = speaks_as === 'job' && others !== undefined && others.speaks_for.length > 0
  if (isCentral) {
    const lane = others.as === 'verified' ? 'as verified' : 'as an API key'
    said.push(`may report, upload and open the same about ${others.speaks_for.join(', ')}, ${lane}`)
  }
  const isOpener = scopes.includes('write:ci') && scopes.includes('write:deployments')
  if (isOpener) said.push('answers no gate that was opened through the API, because it opens gates itself')
  return said.length === 0 ? 'may only read' : said.join('; ')
}

/** Who creates a credential, and why. */
export type Grantor = Author & {
  /** The permissions that they have themselves. They keep them until the transaction ends. */
  holdPermissions(tx: Tx): Promise<readonly Permission[]>
}

/** An administrator at the command line can give every scope. */
export const OPERATOR_GRANTOR: Grantor = { ...OPERATOR, holdPermissions: async () => PERMISSIONS }

const MANAGES_CREDENTIALS: Permission = 'manage_integrations'

/**
 * The permission that a person needs to give a scope to a key or a trust, so that nobody creates a
 * credential that can do more than they can. People cannot report CI runs, so `write:ci` needs the
 * permission to manage credentials.
 */
export const SCOPE_PERMISSIONS: Record<Scope, Permission> = {
  'read:pipelines': 'view',
  'read:deployments': 'view',
  'write:deployments': 'answer_deployment_gates',
  'read:security': 'view',
  'write:security-findings': 'upload_security_reports',
  'write:triage': 'triage',
  'read:compliance': 'view',
  'read:attestations': 'view',
  'write:ci': 'manage_integrations',
  'write:compliance-override': 'override_compliance',
}

/**
 * Throws 403 `insufficient_permission` for a scope that the grantor must not give. Their role may
 * have changed since the request arrived.
 */
export async function checkGrantedScopes(tx: Tx, grantor: Grantor, scopes: readonly Scope[]): Promise<void> {
  const held = await grantor.holdPermissions(tx)
  if (!held.includes(MANAGES_CREDENTIALS)) {
    const message = `Your role does not have the permission ${MANAGES_CREDENTIALS}.`
    throw insufficientPermission(message, { requiredPermission: MANAGES_CREDENTIALS })
  }
  const refused = scopes.find((scope) => !held.includes(SCOPE_PERMISSIONS[scope]))
  if (refused === undefined) return
  const requiredPermission = SCOPE_PERMISSIONS[refused]
  const message = `To give the scope ${refused}, your role needs the permission ${requiredPermission}.`
  throw insufficientPermission(message, { requiredPermission, scope: refused })
}

/** The creator of a credential as it is stored. */
export function getCreator({ principal }: Grantor): { created_by: string; created_by_user_id: string | null } {
  return { created_by: principal.name, created_by_user_id: principal.type === 'user' ? principal.id : null }
}

/** Throws 400 unless the time is null, or in the next ten years. */
export function requireExpiry(expiresAt: Date | null, now: Date): Date | null {
  if (expiresAt === null) return null
  const lifetimeMs = expiresAt.getTime() - now.getTime()
  if (lifetimeMs > 0 && lifetimeMs <= DURATION_DAYS_MAX * DAY_MS) return expiresAt
  throw createInvalidFieldError(
    '/body/expires_at',
    `must be later than now, and at most ${DURATION_DAYS_MAX} days from now`,
  )
}

/** Repositories that a credential names. */
export const PATTERNS_MAX = 50

/**
 * The globs of repositories that a credential speaks about. An empty list would be a key that
 * speaks about nothing. Throws 400.
 */
export function requirePatterns(field: string, given: readonly string[]): string[] {
  const patterns = [...new Set(given.map((pattern) => pattern.trim()))]
  if (patterns.length < 1 || patterns.length > PATTERNS_MAX)
    throw createInvalidFieldError(`/body/${field}`, `must have 1 to ${PATTERNS_MAX} patterns`)
  for (const pattern of patterns) {
    const mistake = validateGlob(pattern)
    if (mistake !== null)
      throw createInvalidFieldError(`/body/${field}`, `"${pattern.slice(0, GLOB_CHARS_MAX)}" is not valid: ${mistake}`)
  }
  return patterns
}

const SPEAKS_FOR_OTHERS: Permission = 'manage_members'

/** Only who could give every permission lets jobs speak for other repositories (trust §3). */
export async function checkGrantsOthers(tx: Tx, grantor: Grantor): Promise<void> {
  if ((await grantor.holdPermissions(tx)).includes(SPEAKS_FOR_OTHERS)) return
  const message = `To let jobs speak for other repositories, your role needs the permission ${SPEAKS_FOR_OTHERS}.`
  throw insufficientPermission(message, { requiredPermission: SPEAKS_FOR_OTHERS })
}

import { createInvalidFieldError, invalidRequest } from '../../../platform/http/errors.ts'
import type { GuardedFetch } from '../../../platform/outbound/guarded-fetch.ts'
import { requirePatterns, requireScopes, type Scope } from '../../scopes.ts'
import { type Conditions, PATTERN_CHARS_MAX } from '../conditions.ts'
import { getProviderOfIssuer, isIssuer } from '../issuer.ts'
import { getNamedProviders, getNamingClaims, hasNamingCondition } from '../naming-claim.ts'
import type { SpeaksFor, TrustProvider, TrustTerms } from '../token-job.ts'
import { EVENT_FORM } from '../trusted-events.ts'

const ISSUER_RULE =
  'The issuer must be an https URL without query, as in the claim iss; http only in SHIPLOCK_ALLOWED_NETWORKS'

/** The scopes that a trust can have. */
export const TRUST_SCOPES: readonly Scope[] = ['write:ci', 'write:security-findings']

export type TrustRequest = TrustTerms &
  SpeaksFor & {
    name: string
    issuer: string
    /** Null for the default of the organization. */
    audience: string | null
    /** Null to derive it from the issuer and the conditions. */
    provider: TrustProvider | null
    conditions: Conditions
    scopes: readonly string[]
    /** Null for a trust that never expires. */
    expiresAt: Date | null
  }

const NAME_CHARS_MAX = 100
const AUDIENCE_CHARS_MAX = 500
const CLAIMS_MAX = 20
const VALUES_MAX = 50
export const TRUSTED_EVENTS_MAX = 20
const CLAIM = /^[A-Za-z][A-Za-z0-9_.:/-]{0,99}$/

/** Whose trust it is, and who creates it. */
export type AudienceTerms = {
  origin: string
  slug: string
  /** Whether there is no other organization on the server. */
  isOnly: boolean
  isOperator: boolean
}

/** The audience that names an organization. */
export function formatOwnAudience(origin: string, slug: string): string {
  return `${origin}/${slug}`
}

/** The audience of new trusts if nothing else is agreed. */
export function getDefaultAudience({ origin, slug, isOnly }: Omit<AudienceTerms, 'isOperator'>): string {
  return isOnly ? origin : formatOwnAudience(origin, slug)
}

/**
 * The audience of a new trust. Where organizations share the server, it names the organization, so
 * that no other one can take its tokens; only the operator can agree on another with all of them,
 * as where the CI system fixes it. Throws 400.
 */
export function requireAudience(given: string | null, terms: AudienceTerms): string {
  const { origin, slug, isOnly, isOperator } = terms
  const own = getDefaultAudience(terms)
  const audience = given ?? own
  if (audience.length < 1 || audience.length > AUDIENCE_CHARS_MAX)
    throw createInvalidFieldError('/body/audience', `must have 1 to ${AUDIENCE_CHARS_MAX} characters`)
  if (isOnly || audience === own) return audience
  if (!isOperator) {
    const other =
      'with another one, an administrator of the server creates the trust, by "shiplock-server trust create"'
    throw createInvalidFieldError('/body/audience', `must be ${own}, because organizations share this server; ${other}`)
  }
  if (audience !== origin && !audience.startsWith(`${origin}/`)) return audience
  throw createInvalidFieldError('/body/audience', `${audience} does not name the organization ${slug}: use ${own}`)
}

/** Checks the fields of a new trust but its audience. Throws 400. */
export async function checkTrust(request: TrustRequest, outbound: GuardedFetch, isOperator: boolean) {
  const { issuer, conditions } = request
  const name = request.name.trim()
  if (name.length < 1 || name.length > NAME_CHARS_MAX)
    throw invalidRequest(`A trust name must have 1 to ${NAME_CHARS_MAX} characters`)
  if (!isIssuer(issuer)) throw invalidRequest(ISSUER_RULE)
  checkConditions(conditions)
  const provider = request.provider ?? getProviderOfIssuer(issuer) ?? providerOfClaims(conditions)
  if (!hasNamingCondition(conditions, provider)) {
    const claims = getNamingClaims(provider).join(', ')
    throw invalidRequest(
      `The conditions must name what is trusted: at least one of ${claims} with a literal owner or id, ` +
        'such as repository=acme/shop or repository=acme/*',
    )
  }
  const [scopes, terms] = [checkScopes(request.scopes), checkTerms(request, provider)]
  const others = checkOthers(request, provider)
  // Last, because it may look up the name of the issuer.
  await requireFittingIssuer(provider, issuer, { outbound, isOperator })
  return { name, issuer, provider, conditions, scopes, ...terms, ...others }
}

/** Bitbucket and Azure issue for all their customers at addresses of one form. */
const HOSTED_PROVIDERS: readonly (TrustProvider | null)[] = ['bitbucket', 'azure']

/**
 * An issuer in the allowed networks, or in a private one that the operator names, may use http, and
 * stand for any provider.
 */
async function requireFittingIssuer(
  provider: TrustProvider | null,
  issuer: string,
  { outbound, isOperator }: { outbound: GuardedFetch; isOperator: boolean },
): Promise<void> {
  const isPlain = new URL(issuer).protocol === 'http:'
  const isOther = HOSTED_PROVIDERS.includes(provider) && getProviderOfIssuer(issuer) !== provider
  if ((!isPlain && !isOther) || (await outbound.isInside(issuer))) return
  if (isOperator && ((await outbound.listMissingNetworks(issuer)) ?? []).length > 0) return
  throw invalidRequest(isPlain ? ISSUER_RULE : `The issuer is none of the provider ${provider}`)
}

function checkConditions(conditions: Conditions): void {
  const entries = Object.entries(conditions)
  if (entries.length > CLAIMS_MAX) throw invalidRequest(`A trust has conditions on at most ${CLAIMS_MAX} claims`)
  for (const [claim, value] of entries) {
    const values = [value].flat()
    if (!CLAIM.test(claim)) throw invalidRequest(`"${claim.slice(0, PATTERN_CHARS_MAX)}" is not the name of a claim`)
    if (values.length < 1 || values.length > VALUES_MAX)
      throw invalidRequest(`The condition on ${claim} must have 1 to ${VALUES_MAX} values`)
    if (values.some((text) => text.length < 1 || text.length > PATTERN_CHARS_MAX))
      throw invalidRequest(`A value of the condition on ${claim} must have 1 to ${PATTERN_CHARS_MAX} characters`)
  }
}

function checkTerms({ trusted_events, self_hosted }: TrustTerms, provider: TrustProvider | null): TrustTerms {
  const events = [...new Set(trusted_events)]
  if ((events.length > 0 || self_hosted) && provider !== 'github')
    throw invalidRequest('Only a trust of the provider github has trusted events and self-hosted runners')
  const odd = events.find((event) => !new RegExp(EVENT_FORM).test(event))
  if (odd !== undefined) throw invalidRequest(`"${odd.slice(0, NAME_CHARS_MAX)}" is not the name of an event`)
  if (events.length > TRUSTED_EVENTS_MAX)
    throw invalidRequest(`A trust has at most ${TRUSTED_EVENTS_MAX} trusted events`)
  return { trusted_events: events, self_hosted }
}

/** Without claims that can be read, nobody knows whether code of strangers ran in the job. */
function checkOthers({ speaks_for, as }: SpeaksFor, provider: TrustProvider | null): SpeaksFor {
  if (speaks_for.length === 0) {
    if (as !== 'uploaded') throw createInvalidFieldError('/body/as', 'needs speaks_for: the repositories')
    return { speaks_for, as }
  }
  if (provider === null) throw createInvalidFieldError('/body/speaks_for', 'needs a provider whose claims can be read')
  return { speaks_for: requirePatterns('speaks_for', speaks_for), as }
}

/** The one provider whose claims the conditions name. */
function providerOfClaims(conditions: Conditions): TrustProvider | null {
  const [provider, ...others] = getNamedProviders(conditions)
  return provider !== undefined && others.length === 0 ? provider : null
}

function checkScopes(names: readonly string[]): Scope[] {
  const scopes = requireScopes(names)
  const refused = scopes.find((scope) => !TRUST_SCOPES.includes(scope))
  if (refused === undefined) return scopes
  throw invalidRequest(`A trust cannot have the scope ${refused}; the scopes are ${TRUST_SCOPES.join(', ')}`)
}

import type { Conditions } from './conditions.ts'
import type { TrustProvider } from './token-job.ts'

/**
 * What a value has to start with, so that it names an owner, a repository or an id: an id is
 * literal as a whole; of a path, the first part is.
 */
const ID = /^[^*]+$/
const PATH = /^[^*/]+(?:\/.*)?$/s

/** The claims that name what a trust trusts, with the forms of values that name it. */
const NAMING_CLAIMS: Record<TrustProvider, Readonly<Record<string, RegExp>>> = {
  github: {
    repository: PATH,
    repository_id: ID,
    repository_owner: ID,
    repository_owner_id: ID,
    // `repo:owner/name:…`, with ids in it or not; and templates that start with another claim.
    sub: /^(?:repo:[^*/:]+\/|repository:[^*/:]+\/|(?:repository_id|repository_owner|repository_owner_id):[^*:]+(?::|$))/,
  },
  gitlab: {
    project_path: PATH,
    project_id: ID,
    namespace_path: PATH,
    namespace_id: ID,
    sub: /^(?:(?:project_path|namespace_path):[^*/:]+[/:]|(?:project_id|namespace_id):[^*:]+(?::|$))/,
  },
  bitbucket: {
    repositoryUuid: ID,
    workspaceUuid: ID,
    // `{repository}:{step}`, with the environment between them or not.
    sub: /^\{[^*:{}]+\}(?::|$)/,
  },
  azure: {
    rpo_id: ID,
    // `p://organization/project/pipeline`, or the service connection `sc://…`.
    sub: /^(?:p|sc):\/\/[^*/]+\//,
  },
}

const PROVIDERS = Object.keys(NAMING_CLAIMS) as TrustProvider[]

/** The naming claims of a provider, or of all providers for null. */
export function getNamingClaims(provider: TrustProvider | null): string[] {
  const providers = provider === null ? PROVIDERS : [provider]
  return [...new Set(providers.flatMap((name) => Object.keys(NAMING_CLAIMS[name])))]
}

/**
 * Subjects of other issuers are pairs of a word and a name, such as
 * `organization:acme:pipeline:shop:…` (Buildkite) and `org/<id>/project/<id>/…` (CircleCI). The
 * first pair must be literal.
 */
const OTHER_SUBJECT = /^[^*/:]+[/:][^*/:]+[/:]/

/**
 * Whether at least one condition names an owner, a repository or an id in each of its values. For
 * an issuer that is not one of the providers, this is `sub`, literally or from its first name on.
 */
export function hasNamingCondition(conditions: Conditions, provider: TrustProvider | null): boolean {
  const named = getNamedProviders(conditions)
  if (provider !== null) return named.includes(provider)
  return named.length > 0 || [conditions.sub ?? '*'].flat().every((text) => ID.test(text) || OTHER_SUBJECT.test(text))
}

/** The providers whose naming claims the conditions use to name something. */
export function getNamedProviders(conditions: Conditions): TrustProvider[] {
  return PROVIDERS.filter((provider) =>
    Object.entries(conditions).some(([claim, value]) => {
      const naming = NAMING_CLAIMS[provider]
      const form = Object.hasOwn(naming, claim) ? naming[claim] : undefined
      return form !== undefined && [value].flat().every((text) => form.test(text))
    }),
  )
}

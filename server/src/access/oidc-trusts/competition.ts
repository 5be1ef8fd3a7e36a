import { isLoopback } from '../../platform/loopback.ts'
import { ClaimPattern, type Condition, type Conditions, toConditions } from './conditions.ts'
import { getGithubHost as githubHost } from './github-job.ts'
import { isOnThisMachine } from './issuer.ts'
import type { TrustProvider } from './token-job.ts'

/** A connected repository of a code host. */
export type KnownRepository = {
  provider: TrustProvider
  host: string
  id: string
  full_name: string
  owner_id: string | null
}

/** What the check needs of a trust. */
type Claimant = { issuer: string; provider: TrustProvider | null; conditions: Conditions }

/** Whether one token could satisfy the conditions of both trusts. Both have the same issuer. */
export function canMatchBoth(one: Claimant, other: Claimant): boolean {
  return mayBothHold(allConditions(one), allConditions(other))
}

/** Whether a token of the repository could satisfy the conditions of the trust. */
export function canMatchRepository(trust: Claimant, repository: KnownRepository): boolean {
  if (trust.provider !== repository.provider || !mayHost(trust, repository.host)) return false
  const claims = CLAIMS[repository.provider](repository)
  return mayBothHold(allConditions(trust), toConditions(claims))
}

/**
 * Whether two lists of conditions can hold together. What only one of them mentions can have any
 * value.
 */
function mayBothHold(ours: readonly Condition[], theirs: readonly Condition[]): boolean {
  return ours.every((our) =>
    theirs.every(
      (their) => our.claim !== their.claim || our.patterns.some((a) => their.patterns.some((b) => a.overlaps(b))),
    ),
  )
}

/** The conditions of a trust, and those that follow from them for other claims of its provider. */
function allConditions({ provider, conditions }: Claimant): Condition[] {
  const own = toConditions(conditions)
  const rules = provider === null ? [] : IMPLIED[provider]
  return [...own, ...own.flatMap((condition) => rules.flatMap((rule) => implied(condition, rule)))]
}

/** The value of one claim determines a part of another one. */
type Implication = { from: string; form: RegExp; claim: string; to: (...parts: string[]) => string }

const IMPLIED: Record<TrustProvider, readonly Implication[]> = {
  github: [
    { from: 'repository_owner', form: /^(.+)$/s, claim: 'repository', to: (owner) => `${owner}/*` },
    {
      from: 'sub',
      form: /^repo:([^*/:@]+)(?:@\d+)?\/([^:@]*)/,
      claim: 'repository',
      to: (owner, name) => `${owner}/${name}`,
    },
    { from: 'sub', form: /^repository:([^*/:]+\/[^:]*)/, claim: 'repository', to: (repository) => repository },
    { from: 'sub', form: /^repository_owner:([^*:]+)/, claim: 'repository', to: (owner) => `${owner}/*` },
    { from: 'sub', form: /^repository_id:([^*:]+)/, claim: 'repository_id', to: (id) => id },
    { from: 'sub', form: /^repository_owner_id:([^*:]+)/, claim: 'repository_owner_id', to: (id) => id },
  ],
  gitlab: [
    { from: 'namespace_path', form: /^(.+)$/s, claim: 'project_path', to: (namespace) => `${namespace}/*` },
    { from: 'sub', form: /^project_path:([^*/:]+\/[^:]*)/, claim: 'project_path', to: (path) => path },
    { from: 'sub', form: /^namespace_path:([^*/:]+[^:]*)/, claim: 'project_path', to: (path) => `${path}/*` },
    { from: 'sub', form: /^project_id:([^*:]+)/, claim: 'project_id', to: (id) => id },
    { from: 'sub', form: /^namespace_id:([^*:]+)/, claim: 'namespace_id', to: (id) => id },
  ],
  bitbucket: [{ from: 'sub', form: /^(\{[^*:{}]+\})/, claim: 'repositoryUuid', to: (id) => id }],
  azure: [],
}

/** Follows only if every value of the condition has the form. */
function implied({ claim, patterns }: Condition, rule: Implication): Condition[] {
  if (claim !== rule.from) return []
  const matches = patterns.map(({ text }) => rule.form.exec(text))
  if (matches.includes(null)) return []
  const texts = matches.map((match) => rule.to(...(match?.slice(1) ?? [])))
  return [{ claim: rule.claim, patterns: texts.map((text) => new ClaimPattern(text)) }]
}

const CLAIMS: Record<TrustProvider, (repository: KnownRepository) => Conditions> = {
  github: ({ id, full_name, owner_id }) => ({
    repository_id: id,
    repository: full_name,
    ...(owner_id !== null && { repository_owner_id: owner_id }),
  }),
  gitlab: ({ id, full_name }) => ({ project_id: id, project_path: full_name }),
  bitbucket: ({ id, owner_id }) => ({ repositoryUuid: id, ...(owner_id !== null && { workspaceUuid: owner_id }) }),
  azure: ({ id, full_name }) => ({
    rpo_id: id,
    sub: ['p', 'sc'].map((scheme) => `${scheme}://${full_name.split('/')[0]}/**`),
  }),
}

/** An issuer or a code host on this machine may stand for any host. */
function mayHost({ issuer, provider }: Claimant, host: string): boolean {
  const known = new URL(`https://${host}`)
  if (isOnThisMachine(issuer) || isLoopback(known.hostname) || provider === 'bitbucket' || provider === 'azure')
    return true
  return (provider === 'github' ? githubHost(issuer) : new URL(issuer).host) === known.host.replace(/^api\./, '')
}

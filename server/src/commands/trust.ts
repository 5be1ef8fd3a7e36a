import { requireChoice, UsageError } from '@shiplock/command-line/options'
import type { CheckedCondition, Conditions } from '../access/oidc-trusts/conditions.ts'
import { TRUST_PROVIDERS } from '../access/oidc-trusts/token-job.ts'
import { explainToken, type TokenExplanation } from '../access/oidc-trusts/trusts/explain-token.ts'
import { createTrust, revokeTrust } from '../access/oidc-trusts/trusts/manage-trusts.ts'
import { TOKEN_CHARS_MAX } from '../access/oidc-trusts/trusts/token-verifier.ts'
import { listTrusts, type Trust } from '../access/oidc-trusts/trusts/trust.store.ts'
import { getDefaultAudience, TRUST_SCOPES } from '../access/oidc-trusts/trusts/trust-request.ts'
import { OPERATOR_GRANTOR } from '../access/scopes.ts'
import { OPERATOR } from '../audit/audit.store.ts'
import { requireOrganization } from '../organizations/organization.ts'
import { listConnectedElsewhere } from '../repositories/followed-repository.store.ts'
import { defineCommand, formatTable, parseDuration, readStandardInput } from './command.ts'
import { SHORTHAND_OPTIONS, selectTemplate, type TrustTemplate } from './trust-shorthand.ts'
import { withServices } from './with-services.ts'

const ORG = { type: 'text', value: '<slug>', about: 'the organization', required: true } as const

export const trustCreate = defineCommand({
  name: 'trust create',
  about:
    'Accepts the OIDC tokens of CI jobs in place of an API key. A shorthand such as --github owner/name fills name, issuer, provider, audience, conditions and scopes; other options replace or add to them.',
  arguments: [],
  options: {
    org: ORG,
    name: { type: 'text', value: 'N', about: 'the name of the trust' },
    issuer: { type: 'text', value: 'URL', about: 'the claim iss of the tokens' },
    audience: { type: 'text', value: 'A', about: 'the claim aud of the tokens (default: the origin of the base URL)' },
    provider: {
      type: 'text',
      value: TRUST_PROVIDERS.join('|'),
      about: 'whose claims the tokens have (default: derived from issuer and conditions)',
    },
    condition: {
      type: 'list',
      value: 'CLAIM=GLOB',
      about:
        'a claim that must match; * stays within a part of a path, ** does not. Can be repeated: all claims must match, and one of the values of each',
    },
    scope: { type: 'list', value: 'S', about: `a scope of the trust; can be repeated: ${TRUST_SCOPES.join(', ')}` },
    'expires-in': {
      type: 'text',
      value: '90d',
      about: 'the lifetime in days (90d), hours (12h) or minutes (30m) (default: no expiry)',
    },
    ...SHORTHAND_OPTIONS,
  },
  async run(context, _given, options) {
    const template = selectTemplate(options)
    const expiresIn = options['expires-in']
    const lifetimeMs = expiresIn === undefined ? null : parseDuration('expires-in', expiresIn)
    const chosen = options.provider && requireChoice('provider', options.provider, TRUST_PROVIDERS)
    const request = {
      name: options.name ?? template?.name ?? refuseMissing('name', 'N'),
      issuer: options.issuer ?? template?.issuer ?? refuseMissing('issuer', 'URL'),
      provider: chosen || (template?.provider ?? null),
      conditions: readConditions(options.condition, template),
      scopes: options.scope.length > 0 ? options.scope : template ? TRUST_SCOPES : refuseMissing('scope', 'S'),
    }
    const given = options.audience ?? template?.audience
    const created = await withServices(context, async (services) => {
      const organization = await requireOrganization(services.sql, options.org)
      const needs = { ...services, connectedElsewhere: listConnectedElsewhere }
      const audience = given ?? getDefaultAudience(services.config)
      const expiresAt = lifetimeMs === null ? null : new Date(services.clock.now().getTime() + lifetimeMs)
      return createTrust(needs, organization.id, OPERATOR_GRANTOR, { ...request, audience, expiresAt })
    })
    const { id, name, issuer, provider, conditions, scopes, expires_at } = created
    context.print({
      json: { id, name, issuer, audience: created.audience, provider, conditions, scopes, expires_at },
      text: `Created the trust "${name}" (${id}). It accepts tokens of ${issuer} for the audience ${created.audience}, and ${expires_at ? `expires at ${expires_at.toISOString()}` : 'does not expire'}.`,
    })
  },
})

export const trustList = defineCommand({
  name: 'trust list',
  about: "Lists an organization's OIDC trusts.",
  arguments: [],
  options: { org: ORG },
  async run(context, _given, { org }) {
    const trusts = await withServices(context, async ({ sql }) =>
      listTrusts(sql, (await requireOrganization(sql, org)).id),
    )
    const heading = ['ID', 'NAME', 'ISSUER', 'CONDITIONS', 'EXPIRES', 'REVOKED', 'LAST USED', 'SCOPES']
    context.print({
      json: trusts,
      text: formatTable(heading, trusts.map(toRow), `The organization ${org} has no trusts.`),
    })
  },
})

export const trustRevoke = defineCommand({
  name: 'trust revoke',
  about: 'Revokes an OIDC trust. Running servers reject its tokens at once.',
  arguments: ['id'],
  options: {},
  async run(context, { id }) {
    const trust = await withServices(context, (services) => revokeTrust(services, { org_id: null, id }, OPERATOR))
    context.print({ json: trust, text: `Revoked the trust "${trust.name}" (${trust.id})` })
  },
})

function refuseMissing(option: string, value: string): never {
  throw new UsageError(`--${option} ${value} is missing`)
}

/** The conditions of the template and the options. Several values of a claim become a list. */
function readConditions(given: readonly string[], template: TrustTemplate | null): Conditions {
  const own = given.map((text): [string, string] => {
    const at = text.indexOf('=')
    if (at < 1 || at === text.length - 1) throw new UsageError(`--condition must be CLAIM=GLOB, not "${text}"`)
    return [text.slice(0, at), text.slice(at + 1)]
  })
  const templates = Object.entries(template?.conditions ?? {}).flatMap(([claim, value]) =>
    [value].flat().map((text): [string, string] => [claim, text]),
  )
  const byClaim = Map.groupBy([...templates, ...own], ([claim]) => claim)
  const conditions = [...byClaim].map(([claim, pairs]) => {
    const values = [...new Set(pairs.map(([, value]) => value))]
    return [claim, values.length === 1 ? values[0] : values]
  })
  return Object.fromEntries(conditions)
}

function toRow({ id, name, issuer, conditions, expires_at, revoked_at, last_used_at, scopes }: Trust): string[] {
  const times = [expires_at, revoked_at, last_used_at].map((at) => at?.toISOString() ?? '-')
  const shown = Object.entries(conditions).map(([claim, value]) => `${claim}=${[value].flat().join('|')}`)
  return [id, name, issuer, shown.join(' '), ...times, scopes.join(' ')]
}

export const trustTest = defineCommand({
  name: 'trust test',
  about:
    'Verifies a token of a CI job, and shows every condition of the live trusts beside the claim of the token. Exits with code 1 if the organization does not accept the token.',
  arguments: [],
  options: {
    org: { type: 'text', value: '<slug>', about: 'the organization', required: true },
    token: { type: 'text', value: '-', about: 'must be -: the token is read from standard input', required: true },
  },
  async run(context, _given, { org, token }) {
    if (token !== '-') throw new UsageError('--token must be -, and the token is read from standard input')
    const given = await readStandardInput(TOKEN_CHARS_MAX)
    const explained = await withServices(context, async (services) => {
      const organization = await requireOrganization(services.sql, org)
      return explainToken(services, organization.id, given)
    })
    context.print({ json: explained, text: toText(explained, org) })
    if (!explained.accepted) throw new Error(`The token is rejected (${explained.reason}): ${explained.details}`)
  },
})

const HEADING = ['TRUST', 'CLAIM', 'EXPECTED', 'TOKEN', '']

function toText({ trust, trusts }: TokenExplanation, org: string): string {
  const rows = trusts.flatMap(({ name, issuer, audience, conditions }) =>
    [issuer, audience, ...conditions].map((condition) => [name, ...toCells(condition)]),
  )
  const compared = formatTable(HEADING, rows, `The organization ${org} has no live trusts.`)
  return trust === null ? compared : `${compared}\n\nAccepted by the trust "${trust.name}" (${trust.id}).`
}

function toCells({ claim, expected, seen, matches }: CheckedCondition): string[] {
  const shown = seen.join(', ').replaceAll(/\p{Cc}/gu, '?')
  return [claim, expected.join(' or '), shown || '-', matches ? 'matches' : 'differs']
}

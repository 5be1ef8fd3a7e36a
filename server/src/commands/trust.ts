import { requireChoice, UsageError } from '@shiplock/command-line/options'
import type { CheckedCondition, Conditions } from '../access/oidc-trusts/conditions.ts'
import { SPEAKS_AS, TRUST_PROVIDERS } from '../access/oidc-trusts/token-job.ts'
import { explainToken, type TokenExplanation } from '../access/oidc-trusts/trusts/explain-token.ts'
import {
  createTrust,
  type ListedTrust,
  listTrustsWithPins,
  removePins,
  revokeTrust,
} from '../access/oidc-trusts/trusts/manage-trusts.ts'
import { TOKEN_CHARS_MAX } from '../access/oidc-trusts/trusts/token-verifier.ts'
import { TRUST_SCOPES } from '../access/oidc-trusts/trusts/trust-request.ts'
import { OPERATOR_GRANTOR } from '../access/scopes.ts'
import { OPERATOR } from '../audit/audit.store.ts'
import { requireOrganization } from '../organizations/organization.ts'
import { listConnectedAt } from '../repositories/followed-repository.store.ts'
import { defineCommand, formatTable, parseDuration, readStandardInput } from './command.ts'
import {
  formatJobLines,
  normalizeTrustOptions,
  SHORTHAND_OPTIONS,
  selectTemplate,
  type TrustTemplate,
} from './trust-shorthand.ts'
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
    audience: {
      type: 'text',
      value: 'A',
      about:
        'the claim aud of the tokens (default: the origin of the base URL; with several organizations <origin>/<slug>)',
    },
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
    'trusted-event': {
      type: 'list',
      value: 'E',
      about:
        'GitHub: an event whose jobs count as verified, too, although strangers may have caused it; can be repeated',
    },
    'self-hosted': {
      type: 'flag',
      value: '',
      about: 'GitHub: jobs on self-hosted runners of public repositories count as verified',
    },
    'speaks-for': {
      type: 'list',
      value: 'GLOB',
      about:
        'other repositories that the jobs speak about, as central pipelines do; can be repeated. Jobs in which code of strangers may have run never do',
    },
    as: {
      type: 'text',
      value: SPEAKS_AS.join('|'),
      about: 'how what they state about these counts: as that of API keys, or as verified (default: uploaded)',
    },
    'expires-in': {
      type: 'text',
      value: '90d',
      about: 'the lifetime in days (90d), hours (12h) or minutes (30m) (default: no expiry)',
    },
    ...SHORTHAND_OPTIONS,
  },
  async run(context, _given, given) {
    const options = normalizeTrustOptions(given, context.say)
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
      trusted_events: options['trusted-event'],
      self_hosted: options['self-hosted'],
      speaks_for: options['speaks-for'],
      as: options.as === undefined ? ('uploaded' as const) : requireChoice('as', options.as, SPEAKS_AS),
    }
    const audience = options.audience ?? template?.audience ?? null
    const { created, baseUrl } = await withServices(context, async (services) => {
      const organization = await requireOrganization(services.sql, options.org)
      const needs = { ...services, connectedRepositories: listConnectedAt }
      const expiresAt = lifetimeMs === null ? null : new Date(services.clock.now().getTime() + lifetimeMs)
      const created = await createTrust(needs, organization.id, OPERATOR_GRANTOR, { ...request, audience, expiresAt })
      return { created, baseUrl: services.config.baseUrl }
    })
    const { id, name, issuer, provider, conditions, scopes, trusted_events, self_hosted, speaks_for, expires_at } =
      created
    context.print({
      json: {
        id,
        name,
        issuer,
        audience: created.audience,
        provider,
        conditions,
        scopes,
        trusted_events,
        self_hosted,
        speaks_for,
        as: created.as,
        expires_at,
      },
      text: [
        `Created the trust "${name}" (${id}). It accepts tokens of ${issuer} for the audience ${created.audience}, and ${expires_at ? `expires at ${expires_at.toISOString()}` : 'does not expire'}.`,
        ...formatJobLines(created, { baseUrl, slug: options.org }),
      ].join('\n'),
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
      listTrustsWithPins(sql, (await requireOrganization(sql, org)).id),
    )
    const heading = ['ID', 'NAME', 'ISSUER', 'CONDITIONS', 'EXPIRES', 'REVOKED', 'LAST USED', 'SCOPES']
    const listed = formatTable(heading, trusts.map(toRow), `The organization ${org} has no trusts.`)
    context.print({ json: trusts, text: [listed, ...trusts.flatMap(describeRefused)].join('\n') })
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

export const trustUnpin = defineCommand({
  name: 'trust unpin',
  about:
    'Releases a name that an OIDC trust has pinned to an id, or all its names. The next token pins the name to the id that it has then.',
  arguments: ['id'],
  options: { name: { type: 'text', value: 'N', about: 'host/owner/name, or host/owner/ (default: all names)' } },
  async run(context, { id }, { name }) {
    const released = { org_id: null, id, pin: name ?? null }
    const trust = await withServices(context, (services) => removePins(services, released, OPERATOR))
    const what = name === undefined ? 'all names' : `the name ${name}`
    context.print({ json: trust, text: `Released ${what} of the trust "${trust.name}" (${trust.id})` })
  },
})

/** A line for each name that was refused, because it has another id than at first. */
function describeRefused({ id: trustId, name: trust, pins }: ListedTrust): string[] {
  return pins.flatMap(({ name, id, refused_id, refused_at }) => {
    if (refused_at === null) return []
    const what = `"${trust}" (${trustId}) refused ${name.replaceAll(/\p{Cc}/gu, '?')} at ${refused_at.toISOString()}`
    return [`${what}: it has the id ${refused_id}, and had ${id} at first. If this is right: trust unpin ${trustId}`]
  })
}

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

function toRow({ id, name, issuer, conditions, expires_at, revoked_at, last_used_at, scopes }: ListedTrust): string[] {
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

function toText({ trust, reach, trusts }: TokenExplanation, org: string): string {
  const rows = trusts.flatMap(({ name, issuer, audience, conditions }) =>
    [issuer, audience, ...conditions].map((condition) => [name, ...toCells(condition)]),
  )
  const compared = formatTable(HEADING, rows, `The organization ${org} has no live trusts.`)
  return trust === null ? compared : `${compared}\n\nAccepted by the trust "${trust.name}" (${trust.id}). It ${reach}.`
}

function toCells({ claim, expected, seen, matches }: CheckedCondition): string[] {
  const shown = seen.join(', ').replaceAll(/\p{Cc}/gu, '?')
  return [claim, expected.join(' or '), shown || '-', matches ? 'matches' : 'differs']
}

import { requireChoice } from '@shiplock/command-line/options'
import { type ApiKey, listApiKeys } from '../access/api-key.store.ts'
import { createApiKey, revokeApiKey } from '../access/manage-access.ts'
import { formatReach, OPERATOR_GRANTOR, SCOPES } from '../access/scopes.ts'
import { OPERATOR } from '../audit/audit.store.ts'
import type { Environment } from '../config.ts'
import { requireOrganization } from '../organizations/organization.ts'
import { defineCommand, formatTable, parseDuration } from './command.ts'
import { withServices } from './with-services.ts'

const ENVIRONMENTS: readonly Environment[] = ['production', 'development']
const ORG = { type: 'text', value: '<slug>', about: 'the organization', required: true } as const

export const keyCreate = defineCommand({
  name: 'key create',
  about: 'Creates an API key and prints it. Only its hash is stored, so the key cannot be shown again.',
  arguments: [],
  options: {
    org: ORG,
    name: { type: 'text', value: 'N', about: 'the name of the key', required: true },
    scope: {
      type: 'list',
      value: 'S',
      about: `a scope of the key; can be repeated: ${SCOPES.join(', ')}`,
      required: true,
    },
    environment: {
      type: 'text',
      value: ENVIRONMENTS.join('|'),
      about: 'the environment whose servers accept the key (default: SHIPLOCK_ENVIRONMENT)',
    },
    repository: {
      type: 'list',
      value: 'GLOB',
      about:
        'a repository that the key speaks about, such as acme/shop or git.example.com/acme/*; can be repeated (default: all)',
    },
    'expires-in': {
      type: 'text',
      value: '90d',
      about: 'the lifetime in days (90d), hours (12h) or minutes (30m) (default: no expiry)',
    },
  },
  async run(context, _given, options) {
    const expiresIn = options['expires-in']
    const lifetimeMs = expiresIn === undefined ? null : parseDuration('expires-in', expiresIn)
    const chosen = options.environment && requireChoice('environment', options.environment, ENVIRONMENTS)
    const created = await withServices(context, async ({ sql, clock, config }) => {
      const organization = await requireOrganization(sql, options.org)
      const now = clock.now()
      const request = {
        name: options.name,
        scopes: options.scope,
        environment: chosen || config.environment,
        expiresAt: lifetimeMs === null ? null : new Date(now.getTime() + lifetimeMs),
        repositories: options.repository.length > 0 ? options.repository : null,
        grantor: OPERATOR_GRANTOR,
      }
      return sql.begin((tx) => createApiKey(tx, organization.id, request, now))
    })
    const { id, key, name, scopes, environment, expires_at, repositories } = created
    context.print({
      json: { id, key, name, scopes, environment, expires_at, repositories },
      text: `${key}\n\nThe key "${name}" (${id}) is not shown again. It ${expires_at ? `expires at ${expires_at.toISOString()}` : 'does not expire'}.`,
    })
  },
})

export const keyList = defineCommand({
  name: 'key list',
  about: "Lists an organization's API keys. The keys themselves are not shown.",
  arguments: [],
  options: { org: ORG },
  async run(context, _given, { org }) {
    const keys = await withServices(context, async ({ sql }) =>
      listApiKeys(sql, (await requireOrganization(sql, org)).id),
    )
    const heading = ['ID', 'NAME', 'ENVIRONMENT', 'EXPIRES', 'REVOKED', 'LAST USED', 'SCOPES', 'REPOSITORIES']
    const listed = formatTable(heading, keys.map(toRow), `The organization ${org} has no API keys.`)
    const live = keys.filter(({ revoked_at }) => revoked_at === null)
    const reach = live.map((key) => `"${key.name}" (${key.id}) ${formatReach({ speaks_as: 'api_key', ...key })}.`)
    context.print({ json: keys, text: [listed, ...reach].join('\n') })
  },
})

export const keyRevoke = defineCommand({
  name: 'key revoke',
  about: 'Revokes an API key. Running servers reject it at once.',
  arguments: ['id'],
  options: {},
  async run(context, { id }) {
    const key = await withServices(context, (services) => revokeApiKey(services, { org_id: null, id }, OPERATOR))
    const { name, revoked_at } = key
    context.print({ json: { id: key.id, name, revoked_at }, text: `Revoked the key "${name}" (${key.id})` })
  },
})

function toRow({
  id,
  name,
  environment,
  expires_at,
  revoked_at,
  last_used_at,
  scopes,
  repositories,
}: ApiKey): string[] {
  const times = [expires_at, revoked_at, last_used_at].map((at) => at?.toISOString() ?? '-')
  return [id, name, environment, ...times, scopes.join(' '), repositories?.join(' ') ?? 'all']
}

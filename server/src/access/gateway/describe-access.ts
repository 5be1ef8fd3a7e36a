import type { FastifyContextConfig, FastifyInstance, RouteOptions } from 'fastify'
import { PERSON_ERROR_RESPONSES } from '../../platform/http/openapi.ts'
import type { Permission } from '../role.ts'
import { defineSessionCookie } from '../sign-in/session.ts'
import { APP_PATH } from './authorize-people.ts'

/** Extensions of OpenAPI that state who may call an operation of the application's API. */
type AccessExtensions = {
  /** Any of these permissions suffices. Empty for operations of no organization. */
  'x-permissions': readonly Permission[]
  'x-fresh-sign-in': boolean
}

/**
 * States in the description of each route of the application's API who may call it. A route that is
 * not described prevents the server from starting, because the authorization test finds routes by
 * their descriptions.
 */
export function registerAccessDescriptions(app: FastifyInstance): void {
  app.addHook('onRoute', ({ url, method, schema, config = {} }: RouteOptions) => {
    if (!url.startsWith(`${APP_PATH}/`) || method === 'HEAD' || (config.public && schema?.hide)) return
    if (!schema?.operationId) throw new Error(`${method} ${url} has no operationId`)
    schema.description = `${schema.description ?? ''}\n\n${describeRequirements(config)}`.trim()
    const { permission = [], fresh } = config
    const extensions: AccessExtensions = {
      'x-permissions': [permission].flat() as Permission[],
      'x-fresh-sign-in': fresh === true,
    }
    Object.assign(schema, extensions)
    if (config.public) schema.security ??= []
  })
}

function describeRequirements(config: FastifyContextConfig): string {
  if (config.public) return 'Requires no session.'
  const feature = config.feature ? ` and a plan with the feature \`${config.feature}\`` : ''
  const fresh = config.fresh ? ' Requires a sign-in within the last 15 minutes.' : ''
  return `Requires ${describePermissions(config)}${feature}.${fresh}`
}

function describePermissions({ permission }: FastifyContextConfig): string {
  if (!permission) return 'a session'
  const names = [permission].flat().map((name) => `\`${name}\``)
  return names.length === 1 ? `the permission ${names[0]}` : `one of the permissions ${names.join(', ')}`
}

type Tag = { name: string; description: string }

const ACCOUNT_TAGS: Tag[] = [
  { name: 'Sign-in', description: 'Sign in, sign out, and confirm who you are.' },
  { name: 'Account', description: 'Change your own name, password, passkeys and TOTP, and end your sessions.' },
]

const ORGANIZATION_TAGS: Tag[] = [
  { name: 'Repositories', description: 'List the repositories of the organization.' },
  { name: 'Live updates', description: 'Stream what changes in the organization.' },
  { name: 'Triage', description: 'Dismiss and reopen findings, issues and alerts, and undo it.' },
  { name: 'Saved views', description: 'Keep the filters and the order of a list under a name.' },
  { name: 'Charts', description: 'Read daily figures of runs, deployments and issues.' },
  { name: 'Members and roles', description: 'Manage the members of an organization, their roles and invitations.' },
  { name: 'Single sign-on', description: 'Sign in with an OpenID provider, and set it up for an organization.' },
  { name: 'Links', description: 'Accept invitations and other one-use links.' },
  { name: 'API keys', description: 'Create, list and revoke API keys.' },
  { name: 'OIDC trusts', description: 'Create, list, revoke and test the trusts of CI jobs.' },
  { name: 'Gates', description: 'Configure the gates that deployments need the approval of.' },
  { name: 'Policies', description: 'Validate, try, apply and compare policies.' },
  { name: 'Code hosts', description: 'Connect code hosts, synchronize them, and read their webhook deliveries.' },
  { name: 'Audit log', description: 'Read and export who changed what in the organization, and why.' },
  { name: 'Usage', description: 'Read what the organization has used of its plan.' },
]

const DESCRIPTION = `The API of the Shiplock console, for people who are signed in. Automation uses the API under /v1.

- **Authentication**: a session cookie, which a sign-in sets. State-changing requests also need the header
  \`x-shiplock-csrf: 1\` and a same-origin \`Origin\` or \`Sec-Fetch-Site\`.
- **Permissions**: each operation of an organization states the permission that the role of the person needs.
- **Everything else**, such as responses, errors and lists, is as in the API under /v1.`

/** What app-openapi.json says of the whole API. `shared` are the tags of routes that /v1 shares. */
export function describeApplication(baseUrl: string, shared: readonly Tag[]) {
  const cookie = { type: 'apiKey', in: 'cookie', name: defineSessionCookie(baseUrl).name } as const
  return {
    prefix: APP_PATH,
    title: 'Shiplock application',
    description: DESCRIPTION,
    tags: [...ACCOUNT_TAGS, ...shared, ...ORGANIZATION_TAGS],
    errorResponses: PERSON_ERROR_RESPONSES,
    securitySchemes: { session: { ...cookie, description: 'The session of a person who is signed in.' } },
    serverUrl: baseUrl,
  }
}

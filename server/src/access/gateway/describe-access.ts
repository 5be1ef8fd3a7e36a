import type { FastifyContextConfig, FastifyInstance, RouteOptions } from 'fastify'
import type { Permission } from '../roles/permission.ts'
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
    Object.assign(schema, toExtensions(config))
    if (config.public) schema.security ??= []
  })
}

function toExtensions({ permission = [], fresh }: FastifyContextConfig): AccessExtensions {
  return { 'x-permissions': [permission].flat() as Permission[], 'x-fresh-sign-in': fresh === true }
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

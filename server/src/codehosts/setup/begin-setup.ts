import { type Actor, principalOf } from '../../access/actor.ts'
import { recordAudit } from '../../audit/audit.store.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { hasOtherConnections } from '../connections/connection-list.store.ts'
import type { SetupOptions } from '../hosts/github/app/app.store.ts'
import { startSetup } from '../hosts/github/app/create-app.ts'
import { requireOwnApp } from './shared-app.ts'

/**
 * Returns an address at which a person creates the GitHub App of this server. All organizations
 * share the App, so 409 `already_configured` is thrown if another organization uses it, and 403
 * `server_admin_required` unless the organizations trust each other.
 */
export async function beginSetup(services: Services, actor: Actor, options: Omit<SetupOptions, 'org'>) {
  const { sql, config, clock } = services
  await requireOwnApp(services, actor)
  return sql.begin(async (tx) => {
    if (await hasOtherConnections(tx, actor.org_id, 'github')) throw usedByOthers()
    const org = config.console === null ? null : actor.organization.slug
    const setup = await startSetup({ config, clock, sql: tx }, { ...options, org })
    const object = { type: 'code_host', id: 'github' }
    const entry = { principal: principalOf(actor), action: 'code_host.set_up', object, reason: null, details: options }
    await recordAudit(tx, actor.org_id, entry, clock.now())
    return { url: setup.url, expires_at: setup.expires_at.toISOString() }
  })
}

function usedByOthers(): ApiError {
  const message =
    'Another organization of this server uses its GitHub App. Only an administrator of the server can replace the App.'
  return new ApiError(409, 'already_configured', message)
}

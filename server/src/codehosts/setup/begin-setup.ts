import { type Actor, toPrincipal } from '../../access/actor.ts'
import { insertAuditEntry } from '../../audit/audit.store.ts'
import { alreadyConfigured } from '../../errors/codehosts.ts'
import type { ApiError } from '../../platform/http/api-error.ts'
import type { Services } from '../../services.ts'
import { type AppProvider, getCodeHost, type Provider } from '../catalogue.ts'
import type { AppSetupOptions, HostApp } from '../code-host.ts'
import { hasOtherConnections } from '../connections/connection-list.store.ts'
import { requireOwnApp } from './shared-app.ts'

/**
 * Returns an address at which a person creates the App of this server. All organizations
 * share the App, so 409 `already_configured` is thrown if another organization uses it, and 403
 * `server_admin_required` unless the organizations trust each other.
 */
export async function startAppSetup(
  services: Services,
  actor: Actor,
  options: { provider: AppProvider } & Omit<AppSetupOptions, 'org'>,
) {
  const { sql, config, clock } = services
  const { provider, ...chosen } = options
  await requireOwnApp(services, actor)
  return sql.begin(async (tx) => {
    if (await hasOtherConnections(tx, actor.org_id, provider)) throw usedByOthers(provider)
    const org = config.console === null ? null : actor.organization.slug
    const setup = await requireHostApp(services, provider).startSetup(tx, { ...chosen, org })
    const object = { type: 'code_host', id: provider }
    const entry = { principal: toPrincipal(actor), action: 'code_host.set_up', object, reason: null, details: chosen }
    await insertAuditEntry(tx, actor.org_id, entry, clock.now())
    return { url: setup.url, expires_at: setup.expires_at.toISOString() }
  })
}

function usedByOthers(provider: Provider): ApiError {
  const message = `Another organization of this server uses its ${getCodeHost(provider).name} App. Only an administrator of the server can replace the App.`
  return alreadyConfigured(message)
}

/** Throws for a host at which no App is set up. */
export function requireHostApp({ hostApps }: Pick<Services, 'hostApps'>, provider: Provider): HostApp {
  const app = hostApps.get(provider)
  if (app === undefined) throw new Error(`${getCodeHost(provider).name} has no App of ours.`)
  return app
}

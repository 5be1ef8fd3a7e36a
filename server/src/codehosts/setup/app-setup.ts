import { type Actor, toPrincipal } from '../../access/actor.ts'
import { insertAuditEntry } from '../../audit/audit.store.ts'
import { alreadyConfigured, serverAdminRequired } from '../../errors/codehosts.ts'
import { isOnlyOrganization } from '../../organizations/organization.store.ts'
import type { Services } from '../../services.ts'
import { type AppProvider, getCodeHost, type Provider } from '../catalogue.ts'
import type { AppSetupOptions, HostApp } from '../code-host.ts'
import {
  hasOtherConnections,
  hasOwnAccount,
  type ListedConnection,
  listWaiting,
} from '../connections/connection-list.store.ts'

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
  if (!(await mayUseApp(services, actor))) throw serverAdminRequired('set up its App', 'provider setup')
  return sql.begin(async (tx) => {
    if (await hasOtherConnections(tx, actor.org_id, provider)) {
      const why = `Another organization of this server uses its ${getCodeHost(provider).name} App.`
      throw alreadyConfigured(`${why} Only an administrator of the server can replace the App.`)
    }
    const org = config.console === null ? null : actor.organization.slug
    const setup = await requireHostApp(services, provider).startSetup(tx, { ...chosen, org })
    const object = { type: 'code_host', id: provider }
    const entry = { principal: toPrincipal(actor), action: 'code_host.set_up', object, reason: null, details: chosen }
    await insertAuditEntry(tx, actor.org_id, entry, clock.now())
    return { url: setup.url, expires_at: setup.expires_at.toISOString() }
  })
}

/** Throws for a host at which no App is set up. */
export function requireHostApp({ hostApps }: Pick<Services, 'hostApps'>, provider: Provider): HostApp {
  const app = hostApps.get(provider)
  if (app === undefined) throw new Error(`${getCodeHost(provider).name} has no App of ours.`)
  return app
}

/**
 * All organizations of a server share its App, so that an installation does not tell whose it is.
 * People use what waits if there is no other organization, or if the operator has set that all
 * organizations trust each other. Otherwise they only connect an account that their organization
 * had before, and the operator connects the others.
 */
async function mayUseApp({ sql, config }: Services, { org_id }: Actor): Promise<boolean> {
  return config.organizationsTrustEachOther || (await isOnlyOrganization(sql, org_id))
}

/**
 * Throws 403 `server_admin_required` for an installation that another organization may own, whether
 * it exists or not.
 */
export async function requireOwnInstallation(
  services: Services,
  actor: Actor,
  installation: { provider: Provider; installation_id: string },
): Promise<void> {
  if (await mayUseApp(services, actor)) return
  if (!(await hasOwnAccount(services.sql, actor.org_id, installation)))
    throw serverAdminRequired('connect this installation', 'provider connect')
}

/** The waiting installations that the organization may connect. */
export async function listConnectable(services: Services, actor: Actor): Promise<ListedConnection[]> {
  return listWaiting(services.sql, (await mayUseApp(services, actor)) ? null : actor.org_id)
}

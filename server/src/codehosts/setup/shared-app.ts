import type { Actor } from '../../access/actor.ts'
import { serverAdminRequired } from '../../errors/codehosts.ts'
import { isOnlyOrganization } from '../../organizations/organization.store.ts'
import type { Services } from '../../services.ts'
import type { Provider } from '../catalogue.ts'
import { hasOwnAccount, type ListedConnection, listWaiting } from '../connections/connection-list.store.ts'

/**
 * All organizations of a server share its App, so that an installation does not tell whose it is.
 * People use what waits if there is no other organization, or if the operator has set that all
 * organizations trust each other. Otherwise they only connect an account that their organization
 * had before, and the operator connects the others.
 */
async function mayUseApp({ sql, config }: Services, { org_id }: Actor): Promise<boolean> {
  return config.organizationsTrustEachOther || (await isOnlyOrganization(sql, org_id))
}

/** Throws 403 `server_admin_required` unless people may set up the App of the server. */
export async function requireOwnApp(services: Services, actor: Actor): Promise<void> {
  if (!(await mayUseApp(services, actor))) throw serverAdminRequired('set up its App', 'provider setup')
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

import { isDemo, type Organization } from '../../organizations/organization.store.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import { update } from '../../platform/updates/update.ts'
import type { Services } from '../../services.ts'
import { ORGANIZATION_PATH } from '../gateway/authorize-people.ts'
import { OrganizationPath } from '../gateway/open-to-people.ts'
import { toMemberAuthor } from './author.ts'
import { renameOrganization } from './manage-members.ts'
import { OrganizationChange, OrganizationSettings } from './member.schema.ts'

export async function registerOrganizationRoutes(app: HttpServer, services: Services): Promise<void> {
  const withKind = async (organization: Organization) => ({
    ...organization,
    is_demo: await isDemo(services.sql, organization.id),
  })

  app.get(
    ORGANIZATION_PATH,
    {
      config: { permission: 'view' },
      schema: {
        operationId: 'getOrganization',
        summary: 'Get the organization',
        description: 'Returns the organization.',
        tags: ['Members and roles'],
        params: OrganizationPath,
        response: { 200: Envelope(OrganizationSettings, 'The organization.') },
      },
    },
    async ({ actor: { organization } }, reply) => sendData(reply, JSON.stringify(await withKind(organization))),
  )

  app.patch(
    ORGANIZATION_PATH,
    {
      config: { permission: 'manage_members', updates: () => [update('organization')] },
      schema: {
        operationId: 'renameOrganization',
        summary: 'Rename the organization',
        description: 'Changes the display name of the organization. The slug stays.',
        tags: ['Members and roles'],
        params: OrganizationPath,
        body: OrganizationChange,
        response: { 200: Envelope(OrganizationSettings, 'The renamed organization.') },
      },
    },
    async ({ actor, body }, reply) => {
      const writer = { orgId: actor.org_id, author: toMemberAuthor(actor) }
      const name = await renameOrganization(services, writer, body.name)
      return sendData(reply, JSON.stringify(await withKind({ ...actor.organization, name })))
    },
  )
}

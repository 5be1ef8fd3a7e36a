import type { FastifyInstance, RouteOptions } from 'fastify'
import { type TObject, Type } from 'typebox'
import { QueryReason, Reason } from '../../audit/audit.schema.ts'
import { Closed, ItemId } from '../../platform/http/schemas.ts'
import { ORGANIZATION_PATH } from './authorize-people.ts'

/**
 * Opens every route under /v1 that declares a permission to people as well: /v1/runs is also
 * /app/api/orgs/{org}/runs, with the same handler and schemas, so that a rule exists once. To be
 * called before the hooks that add to the schemas of /v1.
 */
export function registerOpenToPeople(app: FastifyInstance): void {
  app.addHook('onRoute', function (this: FastifyInstance, route: RouteOptions) {
    if (!route.url.startsWith('/v1/') || !route.config?.permission || route.method === 'HEAD') return
    const { scope: _, tokenOnly: __, ...config } = route.config
    const { schema } = route
    const ownParams = (schema?.params as TObject | undefined)?.properties ?? {}
    const params = Type.Object({ org: OrganizationSlug, ...ownParams }, { additionalProperties: false })
    this.route({
      ...route,
      url: ORGANIZATION_PATH + route.url.slice('/v1'.length),
      config,
      schema: { ...schema, params, response: { ...(schema?.response as object) } },
    })
  })
}

export const OrganizationSlug = Type.String({
  pattern: '^[a-z0-9][a-z0-9-]{0,62}$',
  description: 'The slug of the organization.',
})

/** The path of a route of an organization. */
export const OrganizationPath = Closed({ org: OrganizationSlug })

/** The path of a route of one object. */
export const ItemPath = Closed({ org: OrganizationSlug, id: { ...ItemId, description: 'The id of the object.' } })

/** The body of a change that needs nothing but its object. */
export const WithReason = Closed({ reason: Reason })

/** The query of a DELETE. */
export const DeletionQuery = Closed({ reason: QueryReason })

import type { Static } from 'typebox'
import { listContext } from '../../access/actor.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { definePageQuery, type Page, readPage, sendPage, windowFilters } from '../../platform/http/lists.ts'
import { sendData } from '../../platform/http/responses.ts'
import { Envelope, ListEnvelope } from '../../platform/http/schemas.ts'
import { repositoryFilters } from '../../security/repositories/repository.schema.ts'
import { selectRepositories } from '../../security/repositories/select-repository.ts'
import { findPackageType } from '../../security/vocabulary/package-url.ts'
import type { Services } from '../../services.ts'
import {
  Component,
  ComponentPath,
  ComponentWithOccurrences,
  componentFilters,
  Occurrence,
  OccurrenceQuery,
} from './component.schema.ts'
import { type ComponentFilters, findComponent, listComponents, listOccurrences } from './component.store.ts'
import { parsePackage } from './component-identity.ts'

const ComponentQuery = definePageQuery(1000, 100, { ...componentFilters, ...repositoryFilters, ...windowFilters })
const config = { scope: 'read:security', permission: 'view', feature: 'security_uploads' } as const
const tags = ['Inventory']

export async function registerComponentRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    '/v1/components',
    {
      config,
      schema: {
        operationId: 'listComponents',
        summary: 'List components',
        description:
          'Returns the packages that bills of materials contain, those that were seen first most recently at the top. ' +
          'Filters can be combined. Components count however old they are.\n\nErrors: 400 `REPOSITORY_AMBIGUOUS` if the ' +
          'repository name exists on more than one code host and `provider` is missing.',
        tags,
        querystring: ComponentQuery,
        response: { 200: ListEnvelope(Component, 'A page of components.') },
      },
    },
    async (request, reply) => {
      const { query, actor } = request
      const context = listContext(services, request)
      const page = withAllAges(readPage(query, context))
      const filters = toFilters(query)
      const rows = await services.reads.read(async (sql) => {
        const repositories = await selectRepositories(sql, actor.org_id, query)
        return listComponents(sql, actor.org_id, page, { ...repositories, ...filters })
      })
      return sendPage(reply, { rows, page, query, context })
    },
  )

  app.get(
    '/v1/components/:id',
    {
      config,
      schema: {
        operationId: 'getComponent',
        summary: 'Get a component',
        description: 'Returns a component with its first 100 occurrences.',
        tags,
        params: ComponentPath,
        response: { 200: Envelope(ComponentWithOccurrences, 'The component.') },
      },
    },
    async ({ actor, params }, reply) => {
      const json = await findComponent(services.sql, actor.org_id, params.id)
      if (json === null) throw createNotFoundError('component')
      return sendData(reply, json)
    },
  )

  app.get(
    '/v1/components/:id/occurrences',
    {
      config,
      schema: {
        operationId: 'listComponentOccurrences',
        summary: 'List the occurrences of a component',
        description: 'Returns where a component is, and where it was, newest first.',
        tags,
        params: ComponentPath,
        querystring: OccurrenceQuery,
        response: { 200: ListEnvelope(Occurrence, 'A page of occurrences.') },
      },
    },
    async (request, reply) => {
      const { query, actor, params } = request
      // The id of the component is part of what a cursor is bound to.
      const bound = { ...query, id: params.id }
      const context = listContext(services, request)
      const page = withAllAges(readPage(bound, context))
      const rows = await listOccurrences(services.sql, actor.org_id, params.id, page)
      if (rows === null) throw createNotFoundError('component')
      return sendPage(reply, { rows, page, query: bound, context })
    },
  )
}

/** What is inside now is not old: only a stated `since` limits the age. */
function withAllAges(page: Page): Page {
  return page.asked[0] === null ? { ...page, since: new Date(0) } : page
}

function toFilters(query: Static<typeof ComponentQuery>): Omit<ComponentFilters, 'repositoryNos' | 'provider'> {
  const { purl, package: named, ecosystem, version, license, direct, present } = query
  return {
    purl: purl === undefined ? null : readPurl(purl),
    package: named === undefined ? null : readName(named),
    ecosystem: ecosystem ?? null,
    type: ecosystem === undefined ? null : (findPackageType(ecosystem) ?? ecosystem.toLowerCase()),
    version: version ?? null,
    license: license ?? null,
    direct: direct ?? null,
    present: present ?? 'true',
  }
}

/** The package of a package URL. Qualifiers do not narrow the list. Throws 400. */
function readPurl(purl: string): ComponentFilters['purl'] {
  const found = parsePackage(purl)
  if (found === null) throw createInvalidFieldError('/query/purl', 'must be a package URL')
  const { type, namespace, package_key, version } = found
  return { type, namespace, package_key, version }
}

function readName(named: string): ComponentFilters['package'] {
  const isPrefix = named.endsWith('*')
  return { name: (isPrefix ? named.slice(0, -1) : named).replaceAll('%2A', '*'), isPrefix }
}

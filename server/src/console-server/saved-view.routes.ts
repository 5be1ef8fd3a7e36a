import { type Static, Type } from 'typebox'
import type { Actor } from '../access/actor.ts'
import { ORGANIZATION_PATH } from '../access/gateway/authorize-people.ts'
import { OrganizationPath } from '../access/gateway/open-to-people.ts'
import { nameTaken, tooManySavedViews } from '../errors/organizations.ts'
import { lockName } from '../platform/db/advisory-lock.ts'
import { createNotFoundError } from '../platform/http/errors.ts'
import type { HttpServer } from '../platform/http/http-server.ts'
import { sendData } from '../platform/http/responses.ts'
import { Envelope } from '../platform/http/schemas.ts'
import { createUuid } from '../platform/ids.ts'
import type { Services } from '../services.ts'
import { NewSavedView, SAVED_VIEWS_MAX, SavedView, SavedViewPath } from './saved-view.schema.ts'
import { countSavedViews, deleteSavedView, insertSavedView, listSavedViews, type Owner } from './saved-view.store.ts'

const PATH = `${ORGANIZATION_PATH}/saved-views`
const TAGS = ['Saved views']

/** The views that a person keeps. Nobody else sees them. */
export async function registerSavedViewRoutes(app: HttpServer, services: Services): Promise<void> {
  app.get(
    PATH,
    {
      config: { permission: 'view' },
      schema: {
        operationId: 'listSavedViews',
        summary: 'List your saved views',
        description: `Returns your saved views of every list by name. There are at most ${SAVED_VIEWS_MAX}.`,
        tags: TAGS,
        params: OrganizationPath,
        response: { 200: Envelope(Type.Array(SavedView), 'Your saved views.') },
      },
    },
    async ({ actor }, reply) => sendData(reply, JSON.stringify(await listSavedViews(services.sql, toOwner(actor)))),
  )

  app.post(
    PATH,
    {
      config: { permission: 'view', updates: 'none' },
      schema: {
        operationId: 'createSavedView',
        summary: 'Save a view',
        description:
          'Keeps the filters and the order of a list under a name. Only you see the view.\n\nErrors: 409 `name_taken`, ' +
          '`too_many_saved_views`.',
        tags: TAGS,
        params: OrganizationPath,
        body: NewSavedView,
        response: { 201: Envelope(SavedView, 'The view was saved.') },
      },
    },
    async ({ actor, body }, reply) =>
      sendData(reply.code(201), JSON.stringify(await createSavedView(services, toOwner(actor), body))),
  )

  app.delete(
    `${PATH}/:id`,
    {
      config: { permission: 'view', updates: 'none' },
      schema: {
        operationId: 'deleteSavedView',
        summary: 'Delete a saved view',
        description: 'Deletes one of your saved views.\n\nErrors: 404 `not_found` if you have no such view.',
        tags: TAGS,
        params: SavedViewPath,
        response: { 204: { type: 'null', description: 'The view was deleted.' } },
      },
    },
    async ({ actor, params }, reply) => {
      if (!(await deleteSavedView(services.sql, toOwner(actor), params.id))) throw createNotFoundError('saved view')
      return reply.code(204).send(null)
    },
  )
}

function toOwner({ org_id, credential }: Actor): Owner {
  return { orgId: org_id, userId: credential.id }
}

/** Keeps a view of a list for a person. */
async function createSavedView({ sql, clock }: Services, owner: Owner, view: Static<typeof NewSavedView>) {
  const now = clock.now()
  const stored = { id: createUuid(now), ...view, created_at: now }
  await sql.begin(async (tx) => {
    // The lock makes simultaneous requests count each other's view.
    await lockName(tx, `saved views of ${owner.userId} in ${owner.orgId}`)
    if ((await countSavedViews(tx, owner)) >= SAVED_VIEWS_MAX) throw tooManySavedViews(SAVED_VIEWS_MAX)
    if (!(await insertSavedView(tx, owner, stored))) throw nameTaken('You have a saved view with this name.')
  })
  return stored
}

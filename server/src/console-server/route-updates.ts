import type { FastifyInstance } from 'fastify'
import type { Update } from '../platform/queue/update.ts'
import type { Services } from '../services.ts'

/** The objects that a request is about: the ids in its address, and what it created. */
type Concerned = { params: Readonly<Record<'id' | 'run_id' | 'uploadId' | 'user_id', string>>; created: string | null }

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * What a request that succeeds has changed, for live updates. Every route of an organization
     * that is not a GET states it; `none` if nobody else sees a difference.
     */
    updates?: ((concerned: Concerned) => readonly Update[]) | 'none'
  }
  interface FastifyRequest {
    /** The id of the object that the request created, for `updates`. */
    created: string | null
  }
}

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

/** Sends the live updates of each successful request. To be called before routes are added. */
export function registerRouteUpdates(app: FastifyInstance, { updates }: Services): void {
  app.addHook('onRoute', ({ method, url, config }) => {
    const isOfOrganization = config?.scope !== undefined || config?.permission !== undefined
    if (!isOfOrganization || config.updates || [method].flat().every((name) => SAFE_METHODS.includes(name))) return
    throw new Error(`${method} ${url} declares no updates: write config: { updates } with what it changes, or 'none'`)
  })
  app.decorateRequest('created', null)
  app.addHook('onResponse', (request, reply, done) => {
    const { actor, params, created } = request
    if (!actor || reply.statusCode >= 300) return done()
    const { updates: list = 'none' } = request.routeOptions.config
    if (list !== 'none') updates.note(actor.org_id, list({ params: params as Concerned['params'], created }))
    done()
  })
}

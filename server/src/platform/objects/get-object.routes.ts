import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { notFound } from '../http/errors.ts'
import { attachmentDisposition } from './content-disposition.ts'
import type { ObjectRoutesOptions } from './put-object.routes.ts'
import { STORAGE_PATH } from './signed-address.ts'

/**
 * `GET /storage/objects?token=…`: hands out one file at the address that `presignGet` gave out, always as a download:
 * what a client uploaded must never run as a page of this server.
 */
export async function getObjectRoutes(app: FastifyInstance, { objects, clock }: ObjectRoutesOptions): Promise<void> {
  app.get<{ Querystring: { token?: unknown } }>(STORAGE_PATH, { exposeHeadRoute: false }, async (request, reply) => {
    const { key, filename } = objects.openGet(request.query.token, clock.now())
    const stored = await objects.stat(key)
    if (!stored) throw notFound('object')
    reply.headers({
      'content-type': 'application/octet-stream',
      'content-length': stored.sizeBytes,
      'content-disposition': attachmentDisposition(filename),
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
    })
    return reply.send(Readable.from(objects.read(key), { objectMode: false }))
  })
}

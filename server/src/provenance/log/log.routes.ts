import type { FastifyInstance } from 'fastify'
import { createLogError } from '../../errors/provenance.ts'
import type { Db } from '../../platform/db/sql.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { Closed } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { findLogState, findTileHashes, hasNewestCheckpoint, listEntries } from './log.store.ts'
import { openLogKey } from './log-key.ts'
import { requireAuthenticCheckpoint } from './log-mac.ts'
import { encodeEntries, parseTilePath, TILE_WIDTH, type TileRequest } from './tile.ts'

const TEXT = 'text/plain; charset=utf-8'
const FOR_EVER = 'public, max-age=31536000, immutable'
const FOR_A_SECOND = 'public, max-age=1'

/**
 * The transparency log as static resources (c2sp.org/tlog-tiles). They are outside of /v1, because
 * their paths are part of that standard, and need no API key.
 */
export async function logRoutes(app: FastifyInstance, services: Services): Promise<void> {
  const options = { schema: { hide: true, querystring: Closed({}) } }
  app.get('/log/key', options, async (_request, reply) => {
    const { verifierKey } = await openLogKey(services)
    return reply.type(TEXT).header('cache-control', 'no-cache').send(verifierKey)
  })
  app.get('/log/checkpoint', options, async (_request, reply) => {
    reply.header('cache-control', 'no-store')
    const note = await readCheckpoint(services)
    return reply.type(TEXT).header('cache-control', FOR_A_SECOND).send(note)
  })
  app.get<{ Params: { '*': string } }>('/log/tile/*', options, async (request, reply) => {
    // Escaped paths would be other names of the same resources.
    const tile = request.url.includes('%') ? null : parseTilePath(request.params['*'])
    const bytes = tile && (await readTile(services.sql, tile))
    if (bytes === null) {
      reply.header('cache-control', 'no-store')
      throw createNotFoundError('tile')
    }
    return reply.type('application/octet-stream').header('cache-control', FOR_EVER).send(bytes)
  })
}

/**
 * Readers would take an older checkpoint for a log that was set back. A lost one is not signed
 * again here, because anybody can send the request.
 */
async function readCheckpoint(services: Services): Promise<string> {
  const state = await findLogState(services.sql)
  if (!hasNewestCheckpoint(state)) await openLogKey(services)
  const newest = hasNewestCheckpoint(state) ? state : await findLogState(services.sql)
  if (!hasNewestCheckpoint(newest)) throw createLogError('The newest checkpoint of the transparency log is lost.')
  await requireAuthenticCheckpoint(services, services.sql, newest)
  return newest.note
}

/** Null while the log does not have so many hashes or entries. */
async function readTile(db: Db, tile: TileRequest): Promise<Buffer | null> {
  if (tile.kind === 'hashes') return findTileHashes(db, tile, tile.width)
  const entries = await listEntries(db, tile.index * TILE_WIDTH, tile.width)
  return entries.length === tile.width ? encodeEntries(entries) : null
}

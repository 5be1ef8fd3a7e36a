import { createSecretKey, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { registerErrorHandler } from '../../src/platform/http/error-handler.ts'
import { registerJsonBody } from '../../src/platform/http/json-body.ts'
import { openFileObjectStore } from '../../src/platform/objects/file-object-store.ts'
import { getObjectRoutes } from '../../src/platform/objects/get-object.routes.ts'
import { putObjectRoutes } from '../../src/platform/objects/put-object.routes.ts'

/** A file store in a directory of its own, behind a server that is otherwise set up as the real one. */
export async function startFileStore({
  clock = systemClock,
  idleTimeoutMs = 60_000,
}: {
  clock?: Clock
  idleTimeoutMs?: number
} = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'file-store-'))
  const port = await freePort()
  const signingKey = createSecretKey(randomBytes(32))
  const store = await openFileObjectStore({ directory, baseUrl: `http://127.0.0.1:${port}`, signingKey })
  const app = Fastify({ bodyLimit: 1024, forceCloseConnections: true })
  registerErrorHandler(app)
  registerJsonBody(app)
  app.register(putObjectRoutes, { objects: store, clock, idleTimeoutMs })
  app.register(getObjectRoutes, { objects: store, clock })
  await app.listen({ port, host: '127.0.0.1' })
  const close = async () => {
    await app.close()
    await rm(directory, { recursive: true, force: true })
  }
  return { store, directory, port, signingKey, close }
}

/** Names of the files that hold a body which has not been checked yet. */
export async function incomingFiles(directory: string): Promise<string[]> {
  return await readdir(join(directory, '.incoming'))
}

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const probe = createServer().listen(0, '127.0.0.1', resolve)
  await promise
  const { port } = probe.address() as AddressInfo
  await new Promise((closed) => probe.close(closed))
  return port
}

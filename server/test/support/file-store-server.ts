import { createSecretKey, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { createHttpServer } from '../../src/platform/http/http-server.ts'
import { registerGracefulStop, selectPort } from '../../src/platform/http/listener.ts'
import { createLog, type Log } from '../../src/platform/log.ts'
import { openFileObjectStore } from '../../src/platform/objects/file-object-store.ts'
import { serveObjects } from '../../src/platform/objects/object.routes.ts'

/** A file store in its own directory, behind an HTTP server like the real one. */
export async function startFileStore({
  clock = systemClock,
  idleTimeoutMs = 60_000,
  log = createLog('silent'),
}: {
  clock?: Clock
  idleTimeoutMs?: number
  log?: Log
} = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'file-store-'))
  const port = await selectPort('127.0.0.1', 0)
  const signingKey = createSecretKey(randomBytes(32))
  const store = await openFileObjectStore({ directory, baseUrl: `http://127.0.0.1:${port.number}`, signingKey })
  const app = createHttpServer(log)
  app.register(serveObjects, { objects: store, clock, idleTimeoutMs })
  const stop = await registerGracefulStop(app, { idleGraceMs: 0, drainMs: 0 })
  await app.ready()
  await port.listen(app.server)
  const close = async () => {
    await stop()
    await rm(directory, { recursive: true, force: true })
  }
  return { store, directory, port: port.number, signingKey, close }
}

/** Names of the files with a body that has not been checked yet. */
export async function incomingFiles(directory: string): Promise<string[]> {
  return await readdir(join(directory, '.incoming'))
}

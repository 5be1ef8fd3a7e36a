import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import type { TestDatabase } from './database.ts'

/**
 * A database's address with a plug in the line. Pulled: connections break, and new ones are
 * refused.
 */
export type DatabasePlug = {
  connection: TestDatabase['connection']
  pull(): Promise<void>
  /**
   * From now on, asks before each answer of the server whether `isStored`. If so, all connections
   * break, once, before the answer arrives: what was stored is then not acknowledged.
   */
  breakWhen(isStored: () => Promise<boolean>): void
  push(): Promise<void>
  close(): Promise<void>
}

export async function openDatabasePlug(database: TestDatabase['connection']): Promise<DatabasePlug> {
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-plug-'))
  const sockets = new Set<Socket>()
  let isStored: (() => Promise<boolean>) | null = null
  const mayPass = async () => {
    const check = isStored
    if (check === null || !(await check())) return true
    // Simultaneous answers have the same check. New connections are left alone.
    if (isStored === check) for (const socket of sockets) socket.destroy()
    isStored = null
    return false
  }
  const server = createServer((client) => joinSockets(client, connectTo(database), { sockets, mayPass }))
  const push = () => new Promise<void>((done) => server.listen(socketOf({ ...database, host: directory }), done))
  const pull = async () => {
    const closed = new Promise((done) => server.close(done))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  const close = async () => {
    if (server.listening) await pull()
    await rm(directory, { recursive: true, force: true })
  }
  const breakWhen = (check: () => Promise<boolean>) => {
    isStored = check
  }
  await push()
  return { connection: { ...database, host: directory }, pull, breakWhen, push, close }
}

type Line = { sockets: Set<Socket>; mayPass: () => Promise<boolean> }

function joinSockets(client: Socket, upstream: Socket, { sockets, mayPass }: Line): void {
  client.pipe(upstream)
  const answers = new Transform({
    transform: (chunk, _encoding, done) =>
      void mayPass().then((passes) => done(null, passes ? chunk : undefined), done),
  })
  answers.on('error', () => client.destroy())
  upstream.pipe(answers).pipe(client)
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    sockets.add(from)
    from.on('error', () => {})
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
  }
}

function connectTo(address: TestDatabase['connection']): Socket {
  return address.host.startsWith('/') ? connect(socketOf(address)) : connect(address.port, address.host)
}

/** Where PostgreSQL's clients look for a server's Unix socket. */
function socketOf({ host, port }: TestDatabase['connection']): string {
  return `${host}/.s.PGSQL.${port}`
}

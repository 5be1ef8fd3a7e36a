import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestDatabase } from './database.ts'

/**
 * A database's address with a plug in the line. Pulled: connections break, and new ones are
 * refused.
 */
export type DatabasePlug = {
  connection: TestDatabase['connection']
  pull(): Promise<void>
  push(): Promise<void>
  close(): Promise<void>
}

export async function openDatabasePlug(database: TestDatabase['connection']): Promise<DatabasePlug> {
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-plug-'))
  const sockets = new Set<Socket>()
  const server = createServer((client) => joinSockets(client, connectTo(database), sockets))
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
  await push()
  return { connection: { ...database, host: directory }, pull, push, close }
}

function joinSockets(client: Socket, upstream: Socket, sockets: Set<Socket>): void {
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    sockets.add(from)
    from.pipe(to)
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

import type { Server } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'

/** A port that is ours before there is anything to answer with. */
export type BoundPort = {
  port: number
  /** Lets the server answer on the port from now on, and close it. */
  handTo(server: Server): Promise<void>
  /** Gives the port back where it was not handed on. */
  release(): Promise<void>
}

/**
 * Takes the port first, because what is built afterwards gives out addresses with its number, which the system chooses
 * when `port` is 0. Who connects before the server answers is turned away, as if nobody listened yet.
 * Fails as `listen` fails: EADDRINUSE, EACCES, EADDRNOTAVAIL.
 */
export async function bindPort(host: string, port: number): Promise<BoundPort> {
  const holder = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => holder.once('error', reject).listen({ host, port }, resolve))
  let handedOn = false
  return {
    port: (holder.address() as AddressInfo).port,
    handTo: (server) => {
      handedOn = true
      return new Promise((resolve, reject) => server.once('error', reject).listen(holder, resolve))
    },
    release: async () => {
      if (!handedOn) await new Promise((resolve) => holder.close(resolve))
    },
  }
}

import pg from 'pg'
import { primaryOf } from '../db/primary-server.ts'

const CONNECTIONS = 10

/**
 * The connections of the queue's library. With several servers, each new connection goes to the one
 * that can be written to.
 */
export function openQueuePool(databaseUrl: string, onError: (error: Error) => void): pg.Pool {
  const primary = primaryOf(databaseUrl)
  const pool = new pg.Pool({
    max: CONNECTIONS,
    ...(primary === null ? { connectionString: databaseUrl } : { Client: clientOf(primary), ...LOST_SOON }),
  })
  // A server that stops can end a connection before it has read that it was closed.
  const report = (error: Error) => {
    if (!pool.ending) onError(error)
  }
  pool.on('error', report)
  pool.on('connect', (client) => client.on('error', report))
  return pool
}

/** So that a connection to a lost machine is given up. */
const LOST_SOON = { connectionTimeoutMillis: 3000, keepAlive: true }

function clientOf(primary: NonNullable<ReturnType<typeof primaryOf>>) {
  return class extends pg.Client {
    constructor() {
      super({ ...LOST_SOON, connectionString: primary.url, stream: () => primary.track() })
    }
  }
}

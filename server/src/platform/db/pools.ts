import { gauge } from '../telemetry/metrics.ts'

/** What the pools of postgres.js have in common. */
type Pool = {
  begin: unknown
  reserve(): Promise<{ release(): void }>
}

/** The pools of this process, by name. */
const pools = new Map<string, { connections: number; reserved: number }>()

gauge('shiplock_database_pool_connections_max', 'Connections that a pool can open.', ['pool'], function () {
  for (const [pool, { connections }] of pools) this.set({ pool }, connections)
})
gauge(
  'shiplock_database_pool_reserved',
  'Connections of a pool that belong to a transaction or another exclusive use.',
  ['pool'],
  function () {
    for (const [pool, { reserved }] of pools) this.set({ pool }, reserved)
  },
)

/** Counts the connections that are in exclusive use. */
export function measurePool(sql: Pool, name: string, connections: number): void {
  const pool = pools.get(name) ?? { connections, reserved: 0 }
  pools.set(name, pool)
  const begin = sql.begin as (...given: unknown[]) => Promise<unknown>
  const { reserve } = sql
  sql.begin = async (...given: unknown[]) => {
    pool.reserved += 1
    try {
      return await begin(...given)
    } finally {
      pool.reserved -= 1
    }
  }
  sql.reserve = async () => {
    const connection = await reserve()
    pool.reserved += 1
    const { release } = connection
    connection.release = () => {
      pool.reserved -= 1
      release()
    }
    return connection
  }
}

import { defineGauge } from '../telemetry/metrics.ts'

/** The pools of this process, by name. */
const pools = new Map<string, { connections: number; reserved: number }>()

defineGauge('shiplock_database_pool_connections_max', 'Connections that a pool can open.', ['pool'], function () {
  for (const [pool, { connections }] of pools) this.set({ pool }, connections)
})
defineGauge(
  'shiplock_database_pool_reserved',
  'Connections of a pool that belong to a transaction or another exclusive use.',
  ['pool'],
  function () {
    for (const [pool, { reserved }] of pools) this.set({ pool }, reserved)
  },
)

/** Counts the connections of a pool that are in exclusive use, as told by what is returned. */
export function measurePool(name: string, connections: number): (change: 1 | -1) => void {
  const pool = pools.get(name) ?? { connections, reserved: 0 }
  pools.set(name, pool)
  return (change) => {
    pool.reserved += change
  }
}

import { statfs } from 'node:fs/promises'
import { countPendingCalls } from '../codehosts/connections/call.store.ts'
import { countConnections } from '../codehosts/connections/connection-list.store.ts'
import { countUnapplied } from '../codehosts/deliveries/delivery.store.ts'
import { countWaiting } from '../deployments/waiting-deployment.store.ts'
import { toNullIfMissing } from '../platform/files.ts'
import type { StateSource } from '../platform/metrics.ts'
import { listScheduledRuns, listTaskStates } from '../platform/queue/queue.store.ts'
import { listBrokenChains } from '../provenance/chain/chain.store.ts'
import { retention } from '../retention/retention-figures.ts'
import type { Services } from '../services.ts'

const queue: StateSource<Services> = {
  gauges: {
    shiplock_queue_jobs: 'Background jobs: ready to start, scheduled for later, running, or failed for good.',
    shiplock_queue_oldest_ready_seconds: 'How long the oldest background job that is ready has been due.',
  },
  async read({ sql }) {
    const tasks = await listTaskStates(sql)
    const states = ['ready', 'scheduled', 'running', 'failed'] as const
    return {
      shiplock_queue_jobs: tasks.flatMap((row) =>
        states.map((state) => ({ labels: { task: row.task, state }, value: row[state] })),
      ),
      shiplock_queue_oldest_ready_seconds: tasks.map(({ task, oldest_age_seconds: value }) => ({
        labels: { task },
        value,
      })),
    }
  },
}

const schedule: StateSource<Services> = {
  gauges: { shiplock_scheduled_job_last_start_timestamp_seconds: 'When each scheduled job was last started.' },
  async read({ sql }) {
    const runs = await listScheduledRuns(sql)
    const samples = runs.flatMap(({ name, last_execution: at }) =>
      at === null ? [] : [{ labels: { task: name }, value: at.getTime() / 1000 }],
    )
    return { shiplock_scheduled_job_last_start_timestamp_seconds: samples }
  },
}

const deliveries: StateSource<Services> = {
  gauges: {
    shiplock_webhook_deliveries: 'Stored webhooks that are pending, wait for a connection, or have failed.',
    shiplock_webhook_oldest_pending_seconds: 'The age of the oldest webhook that is about to be applied.',
  },
  async read({ sql, clock }) {
    const { oldest_at, ...counts } = await countUnapplied(sql)
    return {
      shiplock_webhook_deliveries: Object.entries(counts).map(([state, value]) => ({ labels: { state }, value })),
      shiplock_webhook_oldest_pending_seconds: [{ value: ageSeconds(oldest_at, clock.now()) }],
    }
  },
}

const calls: StateSource<Services> = {
  gauges: {
    shiplock_host_calls_pending: 'Calls to code hosts that have not ended, by what they do.',
    shiplock_host_call_oldest_pending_seconds: 'The age of the oldest call that has not ended.',
  },
  async read({ sql, clock }) {
    const now = clock.now()
    const rows = await countPendingCalls(sql)
    return {
      shiplock_host_calls_pending: rows.map(({ action, pending: value }) => ({ labels: { action }, value })),
      shiplock_host_call_oldest_pending_seconds: rows.map(({ action, oldest_at }) => ({
        labels: { action },
        value: ageSeconds(oldest_at, now),
      })),
    }
  },
}

const connections: StateSource<Services> = {
  gauges: { shiplock_connections: 'Connected accounts of code hosts, by status and state of synchronization.' },
  async read({ sql }) {
    const rows = await countConnections(sql)
    return { shiplock_connections: rows.map(({ count: value, ...labels }) => ({ labels, value })) }
  },
}

const gates: StateSource<Services> = {
  gauges: {
    shiplock_gates_waiting: 'Deployments that wait for an answer.',
    shiplock_gates_oldest_waiting_seconds: 'How long the oldest of them has waited.',
    shiplock_gates_overdue: 'Deployments that wait although their time to be answered is over.',
  },
  async read({ sql, clock }) {
    const now = clock.now()
    const { waiting, oldest_at, overdue } = await countWaiting(sql, now)
    return {
      shiplock_gates_waiting: [{ value: waiting }],
      shiplock_gates_oldest_waiting_seconds: [{ value: ageSeconds(oldest_at, now) }],
      shiplock_gates_overdue: [{ value: overdue }],
    }
  },
}

const chains: StateSource<Services> = {
  gauges: { shiplock_broken_chains: 'Chains of change records with breaks that are not acknowledged.' },
  async read({ sql }) {
    return { shiplock_broken_chains: [{ value: (await listBrokenChains(sql)).length }] }
  },
}

const disk: StateSource<Services> = {
  gauges: {
    shiplock_data_free_bytes: 'Space on the file system of the data directory that the program can use.',
    shiplock_data_size_bytes: 'The size of this file system.',
  },
  async read({ config }) {
    // Without embedded database, files and generated key, there is no data directory.
    const disk = await toNullIfMissing(statfs(config.dataDir))
    if (disk === null) return { shiplock_data_free_bytes: [], shiplock_data_size_bytes: [] }
    const { bsize, bavail, blocks } = disk
    return {
      shiplock_data_free_bytes: [{ value: bavail * bsize }],
      shiplock_data_size_bytes: [{ value: blocks * bsize }],
    }
  },
}

/** What `/metrics` states about the database and the disk. Every process has the same figures. */
export const STATE_SOURCES = [queue, schedule, deliveries, calls, connections, gates, chains, retention, disk] as const

function ageSeconds(at: Date | null, now: Date): number {
  return at === null ? 0 : Math.max(0, (now.getTime() - at.getTime()) / 1000)
}

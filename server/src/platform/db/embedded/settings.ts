import { totalmem } from 'node:os'

/** Settings by PostgreSQL's names. They override ours. */
export type PostgresSettings = Record<string, string | number>

const MB = 1024 * 1024

/** The settings file of a cluster: durable, and sized for this machine. */
export function formatSettingsFile(overrides: PostgresSettings): string {
  // The memory of the machine, or of the container if it is less.
  const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  const settings = { ...durable, ...sizedFor(memoryBytes), ...quietLog, ...overrides }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'`)
  return `# Written by Shiplock at every start; your own settings belong below its include in postgresql.conf.\n${lines.join('\n')}\n`
}

/** Committed data survives a crash of the process and of the machine. */
const durable = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_compression: 'pglz', // the only method that the bundled build supports
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  max_connections: 100,
  random_page_cost: 1.1,
  jit: 'off', // compiling costs more than it saves on short queries
  timezone: 'UTC',
  log_timezone: 'UTC',
}

/** Logs no statements, parameters or key values, because they may contain secrets. */
const quietLog = {
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
}

function sizedFor(bytes: number) {
  const sharedBuffersMb = Math.round(Math.min(512, Math.max(128, bytes / MB / 8)))
  return { shared_buffers: `${sharedBuffersMb}MB`, effective_cache_size: `${Math.round(bytes / MB / 2)}MB` }
}

import type { KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { CodeHosts } from '../codehosts/code-host.ts'
import { SecretsOfConnections } from '../codehosts/connections/connection-secrets.ts'
import { openCodeHosts, openHostApps } from '../codehosts/hosts/open-hosts.ts'
import type { Config } from '../config.ts'
import { loadPlans } from '../organizations/load-plans.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { computeDerivedKey, loadSecretKey } from '../platform/crypto/secret-key.ts'
import { logSlowStatements } from '../platform/db/client/statement-metrics.ts'
import { ReplicaReads } from '../platform/db/replica-reads.ts'
import { openSql, type Sql, type Tx } from '../platform/db/sql.ts'
import { createLog, type Log } from '../platform/log.ts'
import { openFileObjectStore } from '../platform/objects/file-object-store.ts'
import type { ObjectStore } from '../platform/objects/object-store.ts'
import { observeStore } from '../platform/objects/observed-store.ts'
import { listStoredNetworks } from '../platform/outbound/allowed-host.store.ts'
import { GuardedFetch, type Resolve } from '../platform/outbound/guarded-fetch.ts'
import { UpdateFeed } from '../platform/queue/update.ts'
import { traceWith } from '../platform/tracing.ts'
import { requireRoom } from '../security/uploads/waiting-uploads.ts'
import { loadRuleMap } from '../security/vocabulary/load-rule-map.ts'
import type { Reads, Services } from '../services.ts'
import type { Database } from './database.ts'

type OpenServices = { services: Services; close: () => Promise<void> }

type OpenOptions = {
  applicationName: string
  connections: number
  clock?: Clock
  log?: Log
  /** The default are all supported ones. */
  codeHosts?: CodeHosts
  /** Looks up the names in addresses that tenants choose. The default is this machine's. */
  resolve?: Resolve
}

const CLOSE_TIMEOUT_SECONDS = 5

/** Opens everything that the program needs. `close` releases it. */
export async function openServices(
  config: Config,
  database: Pick<Database, 'address'> & Partial<Database>,
  options: OpenOptions,
): Promise<OpenServices> {
  const log = options.log ?? createLog(config.logLevel)
  const plans = await loadPlans(config.plansFile)
  const ruleMap = await loadRuleMap(config.ruleMapFile)
  const secret = await loadSecretKey(config.secretKey ?? undefined, config.dataDir)
  const objects = observeStore(await openObjects(config, computeDerivedKey(secret, 'object addresses')))
  const sql = openSql(database.address, { max: options.connections, applicationName: options.applicationName })
  const clock = options.clock ?? systemClock
  const sealingKey = computeDerivedKey(secret, 'sealed secrets')
  const hostApps = openHostApps({ config, sql, clock, sealingKey })
  const secretsOfConnections = new SecretsOfConnections({ sql, clock, sealingKey })
  const readCredentials = async (id: string) => (await secretsOfConnections.read(id))?.credentials ?? null
  const services = {
    config,
    log,
    plans,
    ruleMap,
    objects,
    sql,
    reads: new ReplicaReads(sql, openReplica(config, options), log),
    outbound: openOutbound(config, { sql, log, resolve: options.resolve }),
    updates: new UpdateFeed(sql, log),
    clock,
    admitReads: (tx: Tx, reads: Reads) => requireRoom(tx, reads, clock.now()),
    cursorKey: computeDerivedKey(secret, 'list cursors'),
    contextKey: computeDerivedKey(secret, 'contexts of findings'),
    pollTokenKey: computeDerivedKey(secret, 'gate poll tokens'),
    sealingKey,
    challengeKey: computeDerivedKey(secret, 'challenges of passkeys'),
    addressKey: computeDerivedKey(secret, 'hashes of addresses'),
    integrityKey: computeDerivedKey(secret, 'integrity of stored rows'),
    codeHosts: options.codeHosts ?? openCodeHosts({ config, hostApps, log, clock, sealingKey, readCredentials }),
    hostApps,
    secretsOfConnections,
  }
  const close = async () => {
    await Promise.race([services.updates.close(), delay(CLOSE_TIMEOUT_SECONDS * 1000, undefined, { ref: false })])
    await Promise.all([services.reads.close(CLOSE_TIMEOUT_SECONDS), sql.end({ timeout: CLOSE_TIMEOUT_SECONDS })])
  }
  return { services, close }
}

type OutboundNeeds = { sql: Sql; log: Log; resolve: Resolve | undefined }

function openOutbound({ allowedNetworks, baseUrl }: Config, { sql, log, resolve }: OutboundNeeds): GuardedFetch {
  return new GuardedFetch({
    allowedNetworks,
    baseUrl,
    listStoredNetworks: (origin) => listStoredNetworks(sql, origin),
    log,
    resolve,
  })
}

/** It connects on first use. */
function openReplica({ databaseReadUrl }: Config, { applicationName, connections }: OpenOptions): Sql | null {
  if (databaseReadUrl === null) return null
  return openSql(databaseReadUrl, { max: connections, applicationName: `${applicationName} reads` })
}

/** Loads the S3 SDK only if it is used, because loading it takes 0.1 s. */
async function openObjects(config: Config, signingKey: KeyObject): Promise<ObjectStore> {
  if (config.s3) {
    const { S3ObjectStore } = await import('../platform/objects/s3-object-store.ts')
    return new S3ObjectStore(config.s3)
  }
  return openFileObjectStore({ directory: join(config.dataDir, 'objects'), baseUrl: config.baseUrl, signingKey })
}

/**
 * Turns on what the settings ask for in this thread: the log of slow statements, and traces.
 * Returns the function that turns it off and sends the traces that are left.
 */
export async function startTelemetry(
  { config, log }: Pick<Services, 'config' | 'log'>,
  part: 'api' | 'worker',
): Promise<() => Promise<void>> {
  logSlowStatements(config.slowQueryMs === 0 ? null : { log, slowMs: config.slowQueryMs })
  const tracer = config.tracing && (await openTracer(config.tracing, part, log))
  traceWith(tracer)
  return async () => {
    logSlowStatements(null)
    traceWith(null)
    await tracer?.close()
  }
}

/** Loads the tracer only if it is used. */
async function openTracer(settings: NonNullable<Services['config']['tracing']>, part: string, log: Services['log']) {
  const { openOtlpTracer } = await import('../platform/otlp-tracer.ts')
  return openOtlpTracer(settings, part, log)
}

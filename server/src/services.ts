import type { KeyObject } from 'node:crypto'
import type { CodeHosts, HostApps } from './codehosts/code-host.ts'
import type { SecretsOfConnections } from './codehosts/connections/connection-secrets.ts'
import type { Config } from './config.ts'
import type { Plans } from './organizations/plan.ts'
import type { Clock } from './platform/clock.ts'
import type { ReplicaReads } from './platform/db/replica-reads.ts'
import type { Sql, Tx } from './platform/db/sql.ts'
import type { Log } from './platform/log.ts'
import type { ObjectStore } from './platform/objects/object-store.ts'
import type { GuardedFetch } from './platform/outbound/guarded-fetch.ts'
import type { UpdateFeed } from './platform/queue/update.ts'
import type { RuleMap } from './security/vocabulary/rule-map.ts'

/** Files of a lane that are to be read as security reports. */
export type Reads = {
  org_id: string
  lane: 'verified' | 'key' | 'person' | 'untrusted'
  uploads: number
  bytes: number
}

/** What use cases and routes need. `openServices` creates it once per process. */
export type Services = Readonly<{
  config: Config
  clock: Clock
  log: Log
  sql: Sql
  /** Lists and charts: on a replica, if one is set. */
  reads: ReplicaReads
  objects: ObjectStore
  /** Reads addresses that tenants choose. */
  outbound: GuardedFetch
  plans: Plans
  /** Throws 429 if too much of what a lane has sent waits to be read (trust §7). */
  admitReads(tx: Tx, reads: Reads): Promise<void>
  /** Sends the live updates of this process to the event streams of all processes. */
  updates: UpdateFeed
  /** Which rules of different scanners report the same weakness. */
  ruleMap: RuleMap
  /** Signs list cursors. */
  cursorKey: KeyObject
  /** Hashes the flagged text of findings, which may be a secret. */
  contextKey: KeyObject
  /** Derives the poll tokens of gates. */
  pollTokenKey: KeyObject
  /** Encrypts the secrets that are stored in the database. */
  sealingKey: KeyObject
  /** Authenticates what the database alone must not be able to forge: anchors and tombstones. */
  integrityKey: KeyObject
  /** Signs the challenges of passkeys. */
  challengeKey: KeyObject
  /** Hashes the addresses of people and networks, where counts and logs name them. */
  addressKey: KeyObject
  codeHosts: CodeHosts
  /** Our Apps at the hosts that have them. */
  hostApps: HostApps
  /** The credentials of connections at hosts where we have no App. */
  secretsOfConnections: SecretsOfConnections
}>

import type { CodeHosts } from '../../src/codehosts/code-host.ts'
import { applyRepositoryEvent } from '../../src/codehosts/connections/save-repository.ts'
import type { HostEventHandler, HostParts } from '../../src/codehosts/deliveries/host-event-handler.ts'
import type { HostDeployment } from '../../src/codehosts/host-deployment.ts'
import type { HostEvent, HostEventKind, HostSource } from '../../src/codehosts/host-event.ts'
import { findTiming } from '../../src/codehosts/sync/sync.store.ts'
import { enqueueSync } from '../../src/codehosts/sync/sync-connection.job.ts'
import { synchronizeConnection } from '../../src/codehosts/sync/synchronize-connection.ts'
import type { Sql, Tx } from '../../src/platform/db/sql.ts'
import { createUuid } from '../../src/platform/ids.ts'
import type { Services } from '../../src/services.ts'
import { hostRepository } from './host-objects.ts'

/** Where the test's handlers keep the newest version of each object. */
export async function createObjectTable(sql: Sql): Promise<void> {
  await sql`
    create table test_objects (
      org_id uuid, kind text, key text, version timestamptz, data jsonb, primary key (org_id, kind, key)
    )`
}

/**
 * Handlers that keep the newest version of each object, and the real ones of repositories.
 * `hooks.before` is called with each event before it is stored, and may fail.
 */
export function objectParts(hooks: { before(event: HostEvent): Promise<void> }): HostParts & { applied: HostEvent[] } {
  const applied: HostEvent[] = []
  const keeps = <Kind extends HostEventKind>(kind: Kind): HostEventHandler<Kind>[] => [
    async (_services, tx, source, data) => {
      const event = { kind, data } as HostEvent
      await hooks.before(event)
      await keep(tx, source, event)
      applied.push(event)
    },
  ]
  return {
    applied,
    handlers: {
      repository: [applyRepositoryEvent, ...keeps('repository')],
      run: keeps('run'),
      job: keeps('job'),
      check: keeps('check'),
      deployment: keeps('deployment'),
      deployment_status: keeps('deployment_status'),
      gate_request: keeps('gate_request'),
      deployment_review: keeps('deployment_review'),
      alert: keeps('alert'),
      alert_change: [async (_services, _tx, _source, data) => void applied.push({ kind: 'alert_change', data })],
      pull_request: keeps('pull_request'),
      review: keeps('review'),
      push: keeps('push'),
    },
    listOpenRuns: async (db, orgId, repository, limit) => {
      const rows = await db<{ key: string }[]>`
        select key
        from test_objects
        where org_id = ${orgId}
          and kind = 'run'
          and data #>> '{repository,id}' = ${repository.id}
          and data ->> 'status' in ('queued', 'in_progress')
        order by key
        limit ${limit}`
      return rows.map(({ key }) => key)
    },
    listOpenAlerts: async () => [],
    isRunKnown: async () => false,
    listOpenDeployments: async (db, orgId, repository, limit) => {
      const rows = await db<{ data: HostDeployment }[]>`
        select data
        from test_objects deployment
        where org_id = ${orgId}
          and kind = 'deployment'
          and data #>> '{repository,id}' = ${repository.id}
          and not exists (
            select from test_objects status
            where status.org_id = deployment.org_id
              and status.kind = 'deployment_status'
              and status.data #>> '{deployment,id}' = deployment.key
              and status.data ->> 'state' in ('success', 'failure', 'cancelled', 'inactive')
          )
        order by key
        limit ${limit}`
      return rows.map(({ data }) => ({ ...data, ...datesOf(data), repository }))
    },
  }
}

function datesOf({ created_at, updated_at }: HostDeployment) {
  return { created_at: new Date(created_at), updated_at: new Date(updated_at) }
}

async function keep(tx: Tx, { org_id }: HostSource, event: HostEvent): Promise<void> {
  const { key, version } = nameOf(event)
  await tx`
    insert into test_objects as known (org_id, kind, key, version, data)
    values (${org_id}, ${event.kind}, ${key}, ${version}, ${tx.json(event.data as never)})
    on conflict (org_id, kind, key) do update
    set version = excluded.version,
      data = excluded.data
    where excluded.version > known.version`
}

function nameOf({ kind, data }: HostEvent): { key: string; version: Date } {
  switch (kind) {
    case 'repository':
      return { key: data.repository.id, version: data.repository.updated_at as Date }
    case 'run':
    case 'deployment':
      return { key: data.id, version: data.updated_at }
    case 'deployment_status':
      return { key: data.id as string, version: data.created_at }
    case 'alert':
      return { key: `${data.repository.id} ${data.type} ${data.number}`, version: data.updated_at }
    case 'pull_request':
      return { key: `${data.repository.id} ${data.number}`, version: data.updated_at }
    case 'push':
      return { key: `${data.repository.id} ${data.ref} ${data.after}`, version: data.pushed_at }
    case 'review':
      return { key: data.id, version: data.submitted_at }
    default:
      throw new Error(`The synchronization does not read ${kind}`)
  }
}

/** An active connection of an organization to the account `acme`, without repositories. */
export async function connectAcme({ sql, clock }: Services, orgId: string): Promise<HostSource> {
  const source = {
    org_id: orgId,
    connection_id: createUuid(clock.now()),
    provider: 'github',
    host: 'github.com',
  } as const
  await sql`
    insert into codehost_connections ${sql({
      org_id: orgId,
      id: source.connection_id,
      provider: source.provider,
      host: source.host,
      installation_id: createUuid(clock.now()),
      account_id: hostRepository().owner_id,
      account_login: 'acme',
      account_type: 'Organization',
      status: 'active',
      repositories: 'all',
      connected_at: clock.now(),
    })}`
  return source
}

export function withHost(services: Services, { codeHosts }: { codeHosts: CodeHosts }): Services {
  return { ...services, codeHosts }
}

const JOBS_MAX = 10_000

/**
 * Works on the synchronization, as the queue does, until nothing is due. Returns whether it has
 * ended; otherwise it pauses.
 */
export async function workOnSync(services: Services, parts: HostParts, { connection_id, org_id }: HostSource) {
  for (let jobs = 0; jobs < JOBS_MAX; jobs += 1) {
    const timing = await findTiming(services.sql, connection_id)
    if (!timing?.is_open) return true
    if (timing.due_at > services.clock.now()) return false
    await synchronizeConnection({ ...services, ...parts }, { org_id, connection_id })
  }
  throw new Error('The synchronization does not end')
}

/** Requests a synchronization and works on it. */
export async function synchronize(services: Services, parts: HostParts, source: HostSource, since?: Date) {
  await enqueueSync(services.sql, source, services.clock.now(), since ?? null)
  return workOnSync(services, parts, source)
}

/**
 * What the test's handlers have stored, and how far the lists are read, without what the clock
 * decides.
 */
export async function storedState(sql: Sql, { org_id, connection_id }: HostSource) {
  const objects = await sql<{ kind: string; key: string; data: object }[]>`
    select kind, key, data
    from test_objects
    where org_id = ${org_id}
    order by kind, key`
  const lists = await sql<{ repository_id: string; list: string; next: string | null }[]>`
    select repository_id, list, next, newest_at, etag
    from codehost_sync_lists
    where connection_id = ${connection_id}
    order by repository_id, list`
  const repositories = await sql<{ id: string }[]>`
    select id, full_name
    from repositories
    where connection_id = ${connection_id}
    order by id`
  return { objects: [...objects], lists: [...lists], repositories: [...repositories] }
}

export type ShownConnection = {
  sync_state: string
  sync_phase: string | null
  sync_done: number | null
  sync_total: number | null
  sync_error: string | null
  last_synced_at: Date | null
}

export async function shownConnection(sql: Sql, { connection_id }: HostSource): Promise<ShownConnection> {
  const [row] = await sql<[ShownConnection]>`
    select sync_state, sync_phase, sync_done, sync_total, sync_error, last_synced_at
    from codehost_connections
    where id = ${connection_id}`
  return row
}

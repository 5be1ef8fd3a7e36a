import { setTimeout as delay } from 'node:timers/promises'
import { insertDeliveries } from '../src/codehosts/deliveries/delivery.store.ts'
import type { NewDelivery } from '../src/codehosts/deliveries/delivery.ts'
import { insertOrganization } from '../src/organizations/organization.store.ts'
import { openEmbeddedPostgres } from '../src/platform/db/embedded/embedded-postgres.ts'
import { openSql, type Sql } from '../src/platform/db/sql.ts'
import { createUuid } from '../src/platform/ids.ts'
import { applyDeliveries as applyBare } from './bare-deliveries.ts'
import { type Benchmark, interleave } from './benchmark.ts'
import type { BulkHost } from './bulk-host.ts'
import { startProgram } from './child-program.ts'
import { onNewDirectory } from './new-directory.ts'
import { environmentOf } from './setting.ts'
import { newStory, STORY_DELIVERIES, STORY_REPOSITORIES } from './stored-deliveries.ts'

const ROUNDS = 3
const STORIES = 500
const DELIVERIES = STORIES * STORY_DELIVERIES
/** Deliveries of stories that happen at the same time alternate. */
const STORIES_AT_ONCE = 5
const POLL_MS = 100
const CONNECTIONS = 2
const SHARDS = [0, 1, 2, 3, 4, 5, 6, 7]

const MIGRATE = ['../src/main.ts', 'migrate', '--json']
const WORKER = ['../src/main.ts', 'worker', '--json']

/** From the start of a worker until it has applied all stored deliveries. */
export const applyDeliveries: Benchmark<unknown> = {
  name: '10,000 stored deliveries applied',
  about:
    'of runs, jobs, checks, deployments, pull requests, pushes and alerts, by one worker, beside parsing and updating each row in a transaction',
  unit: 'ms',
  bar: { of: 'ours', atMost: 60_000 },
  measure: () =>
    onNewDirectory(async (directory) => {
      await using opened = new AsyncDisposableStack()
      const postgres = await openEmbeddedPostgres({ dataDir: directory })
      opened.defer(() => postgres.close())
      const sql = openSql(postgres.connection, { max: CONNECTIONS, applicationName: 'bench' })
      opened.defer(() => sql.end())
      const sizes = JSON.stringify({ repositories: STORY_REPOSITORIES, runsPerRepository: 0 })
      const host = await startProgram<BulkHost>(['./bulk-host.ts', sizes], {})
      opened.defer(host.stop)
      const environment = { ...environmentOf(directory), ...host.ready.environment }
      const migrated = await startProgram(MIGRATE, environment)
      await migrated.stop()
      const organization = { id: createUuid(new Date()), slug: 'bench', name: 'bench', plan: 'enterprise' }
      await insertOrganization(sql, organization, new Date())
      await insertConnection(sql, organization.id, host.ready)
      return await interleave(
        ROUNDS,
        (round) => applyOurs(sql, environment, newDeliveries(host.ready, 2 * round)),
        (round) => applyOnce(sql, newDeliveries(host.ready, 2 * round + 1)),
      )
    }),
}

async function applyOurs(sql: Sql, environment: Record<string, string>, deliveries: NewDelivery[]): Promise<number> {
  await storeDeliveries(sql, deliveries)
  const startedAt = performance.now()
  const worker = await startProgram(WORKER, environment)
  try {
    while (await isPending(sql)) await delay(POLL_MS)
  } finally {
    await worker.stop()
  }
  if ((await countApplied(sql)) !== DELIVERIES) throw new Error('Not every delivery was applied')
  return performance.now() - startedAt
}

async function applyOnce(sql: Sql, deliveries: NewDelivery[]): Promise<number> {
  await storeDeliveries(sql, deliveries)
  const ids = deliveries.map(({ id }) => id)
  const startedAt = performance.now()
  const half = ids.length / 2
  await Promise.all([applyBare(sql, ids.slice(0, half)), applyBare(sql, ids.slice(half))])
  return performance.now() - startedAt
}

/** Each part has deliveries of other runs. */
export function newDeliveries(host: BulkHost, part: number): NewDelivery[] {
  const deliveries: NewDelivery[] = []
  for (let first = part * STORIES + 1; deliveries.length < DELIVERIES; first += STORIES_AT_ONCE) {
    const stories = Array.from({ length: STORIES_AT_ONCE }, (_, at) => newStory(host, first + at))
    for (let step = 0; step < STORY_DELIVERIES; step += 1)
      deliveries.push(...stories.flatMap((story) => story.slice(step, step + 1)))
  }
  return deliveries
}

/**
 * Replaces the stored deliveries, and removes the jobs that the last ones left. Each statement
 * inserts one step of stories, in their order.
 */
async function storeDeliveries(sql: Sql, deliveries: NewDelivery[]): Promise<void> {
  await sql`truncate codehost_deliveries, jobs`
  await addDeliveries(sql, deliveries)
}

export async function addDeliveries(sql: Sql, deliveries: NewDelivery[]): Promise<void> {
  for (let first = 0; first < deliveries.length; first += STORIES_AT_ONCE)
    await insertDeliveries(sql, deliveries.slice(first, first + STORIES_AT_ONCE), SHARDS)
}

async function isPending(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ found: boolean }]>`
    select exists (select from codehost_deliveries where status = 'received' and not waiting) as found`
  return row.found
}

async function countApplied(sql: Sql): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from codehost_deliveries where status = 'applied'`
  return row.count
}

export async function insertConnection(
  sql: Sql,
  orgId: string,
  { environment, installation, account }: BulkHost,
): Promise<void> {
  const { host } = new URL(environment.SHIPLOCK_GITHUB_API_URL ?? '')
  const now = new Date()
  await sql`
    insert into codehost_connections (
      org_id, id, provider, host, installation_id, account_id, account_login, account_type, status, repositories,
      connected_at
    )
    values (
      ${orgId}, ${createUuid(now)}, 'github', ${host}, ${installation}, ${account.id}, ${account.login}, 'Organization',
      'active', 'all', ${now}
    )`
}

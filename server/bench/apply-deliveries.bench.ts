import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import examples from '@octokit/webhooks-examples' with { type: 'json' }
import { insertDeliveries } from '../src/codehosts/deliveries/new-delivery.store.ts'
import { insertOrganization } from '../src/organizations/organization.store.ts'
import { openEmbeddedPostgres } from '../src/platform/db/embedded-postgres.ts'
import { openSql, type Sql } from '../src/platform/db/sql.ts'
import { newUuid } from '../src/platform/ids.ts'
import { applyDeliveries as applyBare } from './bare-deliveries.ts'
import { type Benchmark, interleave } from './benchmark.ts'
import { startProgram } from './child-program.ts'
import { githubEnvironment, INSTALLATION } from './deliveries.ts'
import { onNewDirectory } from './new-directory.ts'
import { environmentOf } from './setting.ts'

const ROUNDS = 3
const DELIVERIES = 10_000
const INSERTED_AT_ONCE = 100
const POLL_MS = 100
const CONNECTIONS = 2
const SHARDS = [0, 1, 2, 3, 4, 5, 6, 7]

const MIGRATE = ['../src/main.ts', 'migrate', '--json']
const WORKER = ['../src/main.ts', 'worker', '--json']

/** From the start of a worker until it has applied all stored deliveries. */
export const applyDeliveries: Benchmark<unknown> = {
  name: '10,000 stored deliveries applied',
  about: 'workflow_run deliveries of 10,000 runs, by one worker, beside parsing and updating each row in a transaction',
  unit: 'ms',
  bar: { of: 'ours', atMost: 60_000 },
  measure: () =>
    onNewDirectory(async (directory) => {
      await using opened = new AsyncDisposableStack()
      const postgres = await openEmbeddedPostgres({ dataDir: directory })
      opened.defer(() => postgres.close())
      const sql = openSql(postgres.connection, { max: CONNECTIONS, applicationName: 'bench' })
      opened.defer(() => sql.end())
      const environment = { ...environmentOf(directory), ...githubEnvironment() }
      const migrated = await startProgram(MIGRATE, environment)
      await migrated.stop()
      await insertConnection(sql)
      return await interleave(
        ROUNDS,
        () => applyOurs(sql, environment),
        () => applyOnce(sql),
      )
    }),
}

async function applyOurs(sql: Sql, environment: Record<string, string>): Promise<number> {
  await storeDeliveries(sql)
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

async function applyOnce(sql: Sql): Promise<number> {
  const ids = await storeDeliveries(sql)
  const startedAt = performance.now()
  const half = ids.length / 2
  await Promise.all([applyBare(sql, ids.slice(0, half)), applyBare(sql, ids.slice(half))])
  return performance.now() - startedAt
}

/** Replaces the stored deliveries. Returns their ids. */
async function storeDeliveries(sql: Sql): Promise<string[]> {
  await sql`truncate codehost_deliveries`
  const ids: string[] = []
  while (ids.length < DELIVERIES) {
    const deliveries = Array.from({ length: INSERTED_AT_ONCE }, (_, at) => newRunDelivery(ids.length + at + 1))
    await insertDeliveries(sql, deliveries, SHARDS)
    ids.push(...deliveries.map(({ id }) => id))
  }
  return ids
}

type Example = { name: string; examples: { workflow_run?: object }[] }
const EXAMPLE = (examples as unknown as Example[]).find(({ name }) => name === 'workflow_run')?.examples[0]

function newRunDelivery(runId: number) {
  const workflow_run = { ...EXAMPLE?.workflow_run, id: runId }
  return {
    id: randomUUID(),
    provider: 'github' as const,
    event: 'workflow_run',
    action: 'completed',
    installation_id: INSTALLATION,
    lane: `run:${runId}`,
    received_at: new Date(),
    payload: JSON.stringify({ ...EXAMPLE, workflow_run, installation: { id: Number(INSTALLATION) } }),
  }
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

async function insertConnection(sql: Sql): Promise<void> {
  const now = new Date()
  const id = newUuid(now)
  await insertOrganization(sql, { id, slug: 'bench', name: 'bench', plan: 'enterprise' }, now)
  await sql`
    insert into codehost_connections (
      org_id, id, provider, host, installation_id, account_id, account_login, account_type, status, repositories,
      connected_at
    )
    values (
      ${id}, ${newUuid(now)}, 'github', 'github.com', ${INSTALLATION}, '1', 'acme', 'Organization', 'active', 'all', ${now}
    )`
}

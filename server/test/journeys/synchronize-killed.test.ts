import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { enqueueSync } from '../../src/codehosts/sync/sync-connection.job.ts'
import { openSql } from '../../src/platform/db/sql.ts'
import { AcmeHost } from '../support/acme-host.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { pagedHost } from '../support/paged-host.ts'
import {
  connectAcme,
  createObjectTable,
  objectParts,
  shownConnection,
  storedState,
  withHost,
  workOnSync,
} from '../support/synchronize.ts'

const MINUTE_MS = 60_000
const CONNECTIONS = 3
const REPOSITORIES = ['1', '2']
const STEPS_UNTIL_DEATH = 20
const DEATHS_MAX = 100

let api: TestApi
let acme: AcmeHost

before(async () => {
  api = await startTestApi()
  await createObjectTable(api.services.sql)
  acme = new AcmeHost(api.clock.now())
})
after(() => api?.close())

async function newConnection() {
  await api.services.sql`update codehost_connections set status = 'removed'`
  return connectAcme(api.services, (await api.caller()).orgId)
}

/**
 * A process that dies at the n-th request or event: it does nothing any more, and its sessions end.
 */
async function dyingProcess(dies: number) {
  const sql = openSql(api.database.address, { max: CONNECTIONS, applicationName: 'dying' })
  // Connects at once: connections that end while they are opened fail without anyone to catch it.
  await Promise.all(Array.from({ length: CONNECTIONS }, () => sql`select`))
  const death = Promise.withResolvers<'died'>()
  let steps = 0
  const step = async () => {
    steps += 1
    if (steps < dies) return
    death.resolve('died')
    await new Promise(() => {})
  }
  const host = pagedHost(acme.state(REPOSITORIES))
  host.hooks.before = step
  const parts = objectParts({ before: step })
  return { services: { ...withHost(api.services, host), sql }, parts, died: death.promise }
}

type Source = Awaited<ReturnType<typeof newConnection>>

/** Works until the process dies. Returns false if the synchronization ends before. */
async function workUntilDeath(source: Source, dies: number): Promise<boolean> {
  const { services, parts, died } = await dyingProcess(dies)
  const working = workOnSync(services, parts, source)
  working.catch(() => {})
  const outcome = await Promise.race([working, died])
  await services.sql.end({ timeout: 0 })
  return outcome === 'died'
}

/** Works in a process that lives. The lock of a killed one ends when PostgreSQL notices its end. */
async function workToTheEnd(source: Source): Promise<number> {
  let steps = 0
  const step = async () => {
    steps += 1
  }
  const host = pagedHost(acme.state(REPOSITORIES))
  host.hooks.before = step
  assert.equal(await workOnSync(withHost(api.services, host), objectParts({ before: step }), source), true)
  return steps
}

async function requestedConnection() {
  const source = await newConnection()
  await enqueueSync(api.services.sql, source, api.clock.now())
  return source
}

async function uninterrupted() {
  const source = await requestedConnection()
  const steps = await workToTheEnd(source)
  return { state: await storedState(api.services.sql, source), steps }
}

test('killed at any request or event, a synchronization goes on and ends in the same state', async () => {
  const { state, steps } = await uninterrupted()
  assert.ok(steps > 60, `${steps} steps`)
  for (let dies = 1; dies <= steps; dies += 1) {
    const source = await requestedConnection()
    assert.equal(await workUntilDeath(source, dies), true)
    await workToTheEnd(source)
    assert.deepEqual(await storedState(api.services.sql, source), state, `killed at step ${dies}`)
    assert.equal((await shownConnection(api.services.sql, source)).sync_error, null)
  }
})

test('killed again and again, a synchronization gets to its end', async () => {
  const { state } = await uninterrupted()
  const source = await requestedConnection()
  let deaths = 0
  while (await workUntilDeath(source, STEPS_UNTIL_DEATH)) {
    deaths += 1
    assert.ok(deaths < DEATHS_MAX, 'it never gets further')
    api.clock.advance(MINUTE_MS)
  }
  assert.ok(deaths > 2, `${deaths} deaths`)
  assert.deepEqual(await storedState(api.services.sql, source), state)
})

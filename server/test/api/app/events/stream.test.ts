import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { after, before, test } from 'node:test'
import fastify, { type FastifyContextConfig, type FastifyInstance } from 'fastify'
import { createApp } from '../../../../src/app.ts'
import { registerRouteUpdates } from '../../../../src/console-server/route-updates.ts'
import { publishUpdates } from '../../../../src/platform/queue/update.ts'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { assertError } from '../../../support/assert-error.ts'
import { createRun, patchRun } from '../../../support/ci-runs.ts'
import { EventReader } from '../../../support/event-reader.ts'
import { answer, configureGate, openGate } from '../../../support/gates.ts'
import { operationsOf, readOpenApi } from '../../../support/openapi.ts'
import { createPerson, type Person, pageHeaders, requestAs } from '../../../support/people.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

const viewer = () => createPerson(api, { ...caller, role: 'viewer' })

async function open(person?: Person, headers?: Record<string, string>): Promise<EventReader> {
  const reader = await EventReader.open(api, person ?? (await viewer()), headers)
  assert.equal(reader.response.status, 200)
  return reader
}

test('200 with a stream of events that nothing stores or delays', async () => {
  const reader = await open()
  assert.equal(reader.response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.match(reader.response.headers.get('cache-control') ?? '', /no-store/)
  assert.equal(await reader.comment(), 'connected')
  reader.close()
})

test('a run that a key creates and updates is named, without its data', async () => {
  const reader = await open()
  const run = await createRun(api, caller)
  assert.deepEqual(await reader.until('run', run.id), { event: 'message', data: { type: 'run', id: run.id } })
  await patchRun(api, caller, run.id, { status: 'success' })
  await reader.until('run', run.id)
  reader.close()
})

test('an opened gate and its decision are named', async () => {
  const reader = await open()
  await configureGate(api, caller)
  const { id: run_id } = await createRun(api, caller)
  await openGate(api, caller, { run_id })
  await reader.until('deployment')
  const [{ id: deployment_id }] = (await api.request('GET', '/v1/deployments', { key: caller.key })).body.data
  await answer(api, caller, deployment_id, 'approve')
  await reader.until('deployment', deployment_id)
  reader.close()
})

test('a change in another process is named', async () => {
  const other = await startTestApi({ beside: api })
  const reader = await open()
  const run = await createRun(other, caller)
  await reader.until('run', run.id)
  reader.close()
  await other.close()
})

test('changes of another organization are not named', async () => {
  const reader = await open()
  const stranger = await api.caller()
  const foreign = await createRun(api, stranger)
  const own = await createRun(api, caller)
  for (;;) {
    const event = await reader.next()
    assert.notEqual(event?.data.id, foreign.id)
    if (event?.data.id === own.id) break
  }
  reader.close()
})

test('a failed request names nothing', async () => {
  const reader = await open()
  assert.equal((await patchRun(api, caller, 'nobody', { status: 'success' })).status, 404)
  const { id } = await createRun(api, caller)
  assert.equal((await reader.next())?.data.id, id)
  reader.close()
})

const ENDINGS: [title: string, end: (person: Person) => Promise<unknown>][] = [
  [
    'the session ends',
    ({ userId }) => api.services.sql`update user_sessions set ended_at = now() where user_id = ${userId}`,
  ],
  ['the session is deleted', ({ userId }) => api.services.sql`delete from user_sessions where user_id = ${userId}`],
  [
    'the member is disabled',
    ({ userId }) => api.services.sql`update members set disabled_at = now() where user_id = ${userId}`,
  ],
  ['the member is removed', ({ userId }) => api.services.sql`delete from members where user_id = ${userId}`],
  [
    'the role changes',
    ({ userId }) => api.services.sql`update members set built_in_role = 'developer' where user_id = ${userId}`,
  ],
  ['the user is disabled', ({ userId }) => api.services.sql`update users set disabled_at = now() where id = ${userId}`],
]

for (const [title, end] of ENDINGS) {
  test(`the stream ends at once when ${title}, and another person's stays`, async () => {
    const [person, other] = [await viewer(), await viewer()]
    const [ending, staying] = [await open(person), await open(other)]
    await end(person)
    await ending.ended()
    const run = await createRun(api, caller)
    await staying.until('run', run.id)
    staying.close()
  })
}

test('the stream ends at once when the permissions of the custom role change', async () => {
  const person = await createPerson(api, { ...caller, permissions: ['view', 'triage'] })
  const reader = await open(person)
  await api.services.sql`
    update custom_roles
    set permissions = array['view']
    where id = (select custom_role_id from members where user_id = ${person.userId})`
  await reader.ended()
  const again = await open(person)
  again.close()
})

test('the use of a session does not end its stream', async () => {
  const person = await viewer()
  const reader = await open(person)
  api.clock.advance(120_000)
  assert.equal((await requestAs(api, person, 'GET', '/runs')).status, 200)
  const run = await createRun(api, caller)
  await reader.until('run', run.id)
  reader.close()
})

test('a reader that was connected before starts with resync', async () => {
  const reader = await open(await viewer(), { 'last-event-id': '7' })
  assert.deepEqual(await reader.next(), { event: 'resync', data: { type: 'resync', id: null } })
  reader.close()
})

test('resync after the listening connection was lost, and events again after it', async () => {
  const person = await viewer()
  const reader = await open(person)
  await api.services.sql`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where query ilike 'listen %'
      and datname = current_database()
      and pid <> pg_backend_pid()`
  await reader.until('resync')
  const run = await createRun(api, caller)
  await reader.until('run', run.id)
  reader.close()
})

test('429 rate_limited for the 21st stream of a person, until one is closed', async () => {
  const person = await viewer()
  const readers = await Promise.all(Array.from({ length: 20 }, () => open(person)))
  const refused = await requestAs(api, person, 'GET', '/events')
  assert.equal(assertError(refused, 429, 'rate_limited').limit, 20)
  const other = await open()
  other.close()
  readers[0]?.close()
  for (;;) {
    const reader = await EventReader.open(api, person)
    const { status } = reader.response
    reader.close()
    if (status === 200) break
  }
  for (const reader of readers) reader.close()
})

test('many changes of one kind arrive as one without an id', async () => {
  const reader = await open()
  const changes = Array.from({ length: 5000 }, (_, at) => ({ type: 'finding' as const, id: `finding-${at}` }))
  await publishUpdates(api.services.sql, caller.orgId, changes)
  assert.deepEqual((await reader.until('finding')).data, { type: 'finding', id: null })
  reader.close()
})

test('405 for HEAD, which would never end', async () => {
  const { org, cookie } = await viewer()
  const response = await fetch(`${api.url}${org}/events`, { method: 'HEAD', headers: { cookie } })
  assert.equal(response.status, 405)
})

test('the server stops while streams are open', async () => {
  const other = await startTestApi({ beside: api })
  const reader = await EventReader.open(other, await viewer())
  await other.close()
  await reader.ended()
})

/** The parameters of a route. Reading another one fails. */
function paramsOf(url: string): Record<string, string> {
  const names = [...url.matchAll(/:(\w+)/g)].map(([, name]) => name)
  return new Proxy(
    {},
    {
      get(_, name) {
        assert.ok(names.includes(String(name)), `${url} has no parameter ${String(name)}`)
        return `the ${String(name)}`
      },
    },
  )
}

test('every route of an organization that is not a GET declares what it changes', async () => {
  const routes = await declaredUpdates()
  const operations = operationsOf(JSON.parse(await readOpenApi(api, '/app/api')))
  const changing = operations.filter(({ method, path }) => method !== 'GET' && path.startsWith('/app/api/orgs/'))
  assert.ok(changing.length > 3)
  for (const { method, path } of changing) {
    const name = `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`
    assert.ok(routes.has(name), `${name} declares no updates`)
  }
  for (const [name, updates] of routes) {
    if (updates === 'none') continue
    const named = updates({ params: paramsOf(name) as never, created: 'created' })
    assert.ok(named.length > 0, name)
    for (const { type, id } of named) assert.ok(type && id !== undefined, name)
  }
})

type DeclaredUpdates = NonNullable<FastifyContextConfig['updates']>

/** What the routes of an app declare, by their methods and addresses. */
async function declaredUpdates(): Promise<Map<string, DeclaredUpdates>> {
  const declared = new Map<string, DeclaredUpdates>()
  const watch = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ method, url, config }) => {
      for (const name of [method].flat()) if (config?.updates) declared.set(`${name} ${url}`, config.updates)
    })
  }
  subscribe('fastify.initialization', watch)
  const app = await createApp(api.services)
  unsubscribe('fastify.initialization', watch)
  await app.close()
  return declared
}

test('a route of an organization that declares no updates is refused', () => {
  const app = fastify()
  registerRouteUpdates(app, api.services)
  app.post('/v1/read', { config: { scope: 'write:ci', updates: 'none' } }, () => null)
  app.get('/v1/read', { config: { scope: 'write:ci' } }, () => null)
  assert.throws(() => app.put('/v1/read', { config: { scope: 'write:ci' } }, () => null), /PUT .* declares no updates/)
})

test('a person who accepts an invitation is named', async () => {
  const admin = await createPerson(api, caller)
  const invited = await requestAs(api, admin, 'POST', '/invitations', { email: 'grace@example.com', role: 'viewer' })
  const reader = await open(admin)
  const token = new URL(invited.body.data.link).hash.slice('#token='.length)
  const body = { token, name: 'Grace Hopper', password: 'correct horse battery staple' }
  const accepted = await api.request('POST', '/app/api/links/accept', { headers: pageHeaders(api), body })
  assert.equal(accepted.status, 200, accepted.text)
  // The invitation itself may be named once more, before or after its acceptance.
  const expected = new Set([accepted.body.data.user.id, invited.body.data.id])
  while (expected.size > 0) expected.delete((await reader.next())?.data.id ?? assert.fail('The stream ended'))
  reader.close()
})

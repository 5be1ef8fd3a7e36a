import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { assertError } from '../../support/assert-error.ts'
import { createRun } from '../../support/ci-runs.ts'
import { createPerson, pageHeaders, requestAs } from '../../support/people.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
})
after(() => api?.close())

test('a person reads the runs of their organization with the response of GET /v1/runs', async () => {
  const run = await createRun(api, caller)
  const viewer = await createPerson(api, { ...caller, role: 'viewer' })
  const answer = await requestAs(api, viewer, 'GET', '/runs')
  assert.equal(answer.status, 200)
  assert.equal(answer.body.data[0].id, run.id)
  assert.deepEqual(answer.body.data, (await api.request('GET', '/v1/runs', { key: caller.key })).body.data)
  assert.equal((await requestAs(api, viewer, 'GET', `/runs/${run.id}`)).body.data.id, run.id)
})

test('404 not_found for an organization that the person does not belong to, as for one that does not exist', async () => {
  const stranger = await createPerson(api, await api.caller())
  const foreign = await requestAs(api, { ...stranger, org: `/app/api/orgs/${caller.slug}` }, 'GET', '/runs')
  const unknown = await requestAs(api, { ...stranger, org: '/app/api/orgs/nobody' }, 'GET', '/runs')
  assertError(foreign, 404, 'not_found')
  assert.equal(foreign.text, unknown.text)
})

test('401 not_signed_in without a session, and with an API key in place of one', async () => {
  const path = `/app/api/orgs/${caller.slug}/runs`
  assertError(await api.request('GET', path), 401, 'not_signed_in')
  assertError(await api.request('GET', path, { key: caller.key }), 401, 'not_signed_in')
})

test('a session opens nothing under /v1', async () => {
  const admin = await createPerson(api, caller)
  const answer = await api.request('GET', '/v1/runs', { headers: pageHeaders(api, admin.cookie) })
  assert.equal(answer.status, 401)
})

test('403 insufficient_permission names the permission that the route needs', async () => {
  const auditor = await createPerson(api, { ...caller, permissions: ['read_audit_log'] })
  const answer = await requestAs(api, auditor, 'GET', '/runs')
  assertError(answer, 403, 'insufficient_permission')
  assert.equal(answer.body.error.details.requiredPermission, 'view')
})

test('403 cross_site_request for a state-changing request of another site', async () => {
  const admin = await createPerson(api, caller)
  const path = `${admin.org}/deployments/deployment_1/approve`
  const own = pageHeaders(api, admin.cookie)
  const { 'x-shiplock-csrf': _, ...withoutHeader } = own
  for (const headers of [
    withoutHeader,
    { ...own, origin: 'https://evil.example' },
    { ...own, origin: 'null' },
    { ...own, 'sec-fetch-site': 'cross-site' },
    { ...own, 'sec-fetch-site': 'same-site' },
  ]) {
    const answer = await api.request('POST', path, { headers, body: {} })
    assertError(answer, 403, 'cross_site_request')
  }
})

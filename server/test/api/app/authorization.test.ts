import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { BUILT_IN_ROLE_IDS, PERMISSIONS, type Permission } from '../../../src/access/role.ts'
import { SESSION_IDLE_MS_MAX } from '../../../src/access/sign-in/session.ts'
import { MINUTE_MS } from '../../../src/platform/clock.ts'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { assertError } from '../../support/assert-error.ts'
import { pathOf } from '../../support/call-operation.ts'
import { type Operation, operationsOf, readOpenApi } from '../../support/openapi.ts'
import { createPerson, type Person, pageHeaders, signIn } from '../../support/people.ts'
import { mayCall, permissionTable } from '../../support/permission-table.ts'

let api: TestApi
let caller: Caller
let operations: Operation[]
let closed: Operation[]
let ofOrganization: Operation[]

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  operations = operationsOf(JSON.parse(await readOpenApi(api, '/app/api')))
  closed = operations.filter(({ security }) => security.length > 0)
  ofOrganization = operations.filter(({ path }) => path.startsWith('/app/api/orgs/{org}'))
})
after(() => api?.close())

/** The permission of each state-changing route of an organization (console.md §2). */
const PERMISSION_OF_CHANGES: [route: RegExp, ...anyOf: Permission[]][] = [
  [/^POST \/security\/(uploads\/[^/]+\/confirm$|streams\/)/, 'triage'],
  [/^POST \/security\/uploads/, 'upload_security_reports'],
  [/^\w+ \/security\//, 'triage'],
  [/^POST \/deployments\/\{id\}\/approve$/, 'answer_deployment_gates', 'override_compliance'],
  [/^POST \/deployments\/\{id\}\/reject$/, 'answer_deployment_gates'],
  [/^PATCH \/deployments\/\{id\}$/, 'answer_deployment_gates'],
  [/^DELETE \/deployments\/\{id\}\/live$/, 'answer_deployment_gates'],
  [/^PUT \/inventory-matching$/, 'manage_members'],
  [/^\w+ \/gates/, 'manage_gates'],
  [/^\w+ \/environments/, 'manage_gates'],
  [/^\w+ \/policies/, 'manage_policies'],
  [/^PUT \/default-trust$/, 'manage_policies'],
  [/^\w+ \/pending-changes/, 'manage_gates', 'manage_policies'],
  [/^\w+ \/audit-log/, 'read_audit_log'],
  [/^\w+ \/(api-keys|oidc-trusts|code-hosts)/, 'manage_integrations'],
  [/^\w+ \/(members|invitations|roles|single-sign-on)/, 'manage_members'],
  [/^PATCH $/, 'manage_members'],
  [/^\w+ \/saved-views/, 'view'],
]

/** Confidential, so that `view` does not open them. */
const PERMISSION_OF_READS: [route: RegExp, permission: Permission][] = [
  [/^GET \/audit-log/, 'read_audit_log'],
  [/^GET \/(api-keys|oidc-trusts|code-hosts)/, 'manage_integrations'],
  [/^GET \/(invitations|single-sign-on)/, 'manage_members'],
]

test('docs/permissions.md shows the permission of every operation', async () => {
  const committed = await readFile(new URL('../../../../docs/permissions.md', import.meta.url), 'utf8')
  assert.equal(permissionTable(operations), committed, 'regenerate it: npm run openapi')
})

test('every operation of an organization has the permission that the specification has for it', () => {
  assert.ok(ofOrganization.length > 20)
  for (const operation of ofOrganization) {
    const route = `${operation.method} ${operation.path.replace('/app/api/orgs/{org}', '')}`
    const declared = operation['x-permissions'] ?? []
    const isRead = operation.method === 'GET'
    const [, ...needed] =
      (isRead ? PERMISSION_OF_READS : PERMISSION_OF_CHANGES).find(([each]) => each.test(route)) ?? []
    if (needed.length > 0) assert.deepEqual(declared, needed, route)
    else assert.ok(isRead && declared.length > 0, `${route} is not in PERMISSION_OF_CHANGES`)
  }
})

/**
 * Sends no valid body, so that an admitted request changes nothing. Never waits for a stream to
 * end.
 */
async function call(
  operation: Operation,
  headers: Record<string, string>,
  { slug = caller.slug, method = operation.method } = {},
): Promise<Answer> {
  const response = await fetch(api.url + pathOf(operation, { org: slug }), {
    method,
    headers: { ...headers, ...(operation.requestBody !== undefined && { 'content-type': 'application/json' }) },
    ...(operation.requestBody !== undefined && { body: '{}' }),
  })
  const isError = response.status >= 400
  const text = isError ? await response.text() : ''
  if (!isError) await response.body?.cancel()
  return { status: response.status, headers: response.headers, text, body: text === '' ? undefined : JSON.parse(text) }
}

const callAs = (operation: Operation, { cookie }: Pick<Person, 'cookie'>) => call(operation, pageHeaders(api, cookie))

const nameOf = ({ method, path }: Operation) => `${method} ${path}`

/** What the gateway refuses with. Use cases have other codes and reasons. */
function isRefused({ status, body }: Answer): boolean {
  return status === 401 || (status === 403 && body.error.details.requiredPermission !== undefined)
}

function assertAdmitted(answer: Answer, operation: Operation): void {
  assert.ok(!isRefused(answer) && answer.status < 500, `${nameOf(operation)}: ${answer.status} ${answer.text}`)
}

function assertRefused(answer: Answer, operation: Operation, [status, code]: [number, string]): void {
  assert.deepEqual([answer.status, answer.body?.error?.code], [status, code], `${nameOf(operation)}: ${answer.text}`)
  if (operation.method !== 'HEAD') assertError(answer, status, code)
}

for (const role of BUILT_IN_ROLE_IDS) {
  test(`the role ${role} opens exactly the operations whose permissions it has`, async () => {
    for (const operation of ofOrganization) {
      const answer = await callAs(operation, await createPerson(api, { ...caller, role }))
      if (mayCall(operation, role)) assertAdmitted(answer, operation)
      else assertRefused(answer, operation, [403, 'insufficient_permission'])
    }
  })
}

test('a custom role with any one of the permissions of an operation opens it', async () => {
  for (const operation of ofOrganization) {
    for (const permission of operation['x-permissions'] ?? []) {
      const person = await createPerson(api, { ...caller, permissions: [permission] })
      assertAdmitted(await callAs(operation, person), operation)
    }
  }
})

test('403 insufficient_permission for a custom role with all permissions but those of the operation', async () => {
  for (const operation of ofOrganization) {
    const others = PERMISSIONS.filter((permission) => !operation['x-permissions']?.includes(permission))
    const answer = await callAs(operation, await createPerson(api, { ...caller, permissions: others }))
    assertRefused(answer, operation, [403, 'insufficient_permission'])
    assert.equal(answer.body.error.details.requiredPermission, operation['x-permissions']?.[0])
  }
})

test('everyone who is signed in may call the operations of no organization, without being a member', async () => {
  for (const operation of closed.filter((each) => !ofOrganization.includes(each))) {
    const person = await createPerson(api, caller)
    await api.services.sql`delete from members where user_id = ${person.userId}`
    assertAdmitted(await callAs(operation, person), operation)
  }
})

test('404 not_found in another organization, as in one that does not exist', async () => {
  const stranger = await createPerson(api, await api.caller())
  for (const operation of ofOrganization) {
    const foreign = await callAs(operation, stranger)
    assertRefused(foreign, operation, [404, 'not_found'])
    const unknown = await call(operation, pageHeaders(api, stranger.cookie), { slug: 'no-such-organization' })
    assert.deepEqual([unknown.status, unknown.text], [foreign.status, foreign.text])
  }
})

test('404 not_found for what is no slug', async () => {
  const headers = pageHeaders(api, (await createPerson(api, caller)).cookie)
  for (const slug of ['%00', 'acme%00', 'ACME', '%20', 'a'.repeat(64)])
    assertError(await api.request('GET', `/app/api/orgs/${slug}/runs`, { headers }), 404, 'not_found')
})

test('404 not_found for a member who is disabled or removed', async () => {
  const [disabled, removed] = [await createPerson(api, caller), await createPerson(api, caller)]
  await api.services.sql`update members set disabled_at = now() where user_id = ${disabled.userId}`
  await api.services.sql`delete from members where user_id = ${removed.userId}`
  for (const operation of ofOrganization) {
    for (const person of [disabled, removed]) {
      assertRefused(await callAs(operation, person), operation, [404, 'not_found'])
    }
  }
})

const NOT_SIGNED_IN: [title: string, cookie: () => Promise<string | undefined>][] = [
  ['no session', async () => undefined],
  ['a malformed session', async () => 'shiplock=shl_session_0123'],
  ['a session that was never started', async () => mistype((await createPerson(api, caller)).cookie)],
  ['a session that has ended', () => sessionWith('ended_at', api.clock.now())],
  ['a session that was not used for 12 hours', () => sessionWith('last_used_at', ago(SESSION_IDLE_MS_MAX))],
  ['a session of more than 7 days', () => sessionWith('created_at', ago(7 * 24 * 60 * MINUTE_MS))],
  ['a session of a disabled user', sessionOfDisabled],
]

for (const [title, makeCookie] of NOT_SIGNED_IN) {
  test(`401 not_signed_in on every operation that is not public: ${title}`, async () => {
    const cookie = await makeCookie()
    for (const operation of closed) {
      assertRefused(await call(operation, pageHeaders(api, cookie)), operation, [401, 'not_signed_in'])
    }
  })
}

test('401 not_signed_in on every operation that is not public: an API key with every scope', async () => {
  for (const operation of closed) {
    const headers = { ...pageHeaders(api), authorization: `Bearer ${caller.key}` }
    assertRefused(await call(operation, headers), operation, [401, 'not_signed_in'])
  }
})

test('HEAD requires the same session as GET, or is not allowed', async () => {
  for (const operation of closed.filter(({ method }) => method === 'GET')) {
    const response = await fetch(api.url + pathOf(operation, { org: caller.slug }), { method: 'HEAD' })
    assert.ok([401, 405].includes(response.status), `HEAD ${operation.path} answers ${response.status}`)
  }
})

const CROSS_SITE: [title: string, change: Record<string, string | undefined>][] = [
  ['without the header x-shiplock-csrf', { 'x-shiplock-csrf': undefined }],
  ['from a foreign origin', { origin: 'https://evil.example' }],
  ['from an opaque origin', { origin: 'null' }],
  ['from another site, as the browser states', { 'sec-fetch-site': 'cross-site' }],
  ['from another subdomain, as the browser states', { 'sec-fetch-site': 'same-site' }],
  ['without any statement of its origin', { origin: undefined }],
]

for (const [title, change] of CROSS_SITE) {
  test(`403 cross_site_request for every state-changing request ${title}`, async () => {
    const { cookie } = await createPerson(api, caller)
    for (const operation of operations.filter(({ method }) => method !== 'GET')) {
      const headers = Object.entries({ ...pageHeaders(api, cookie), ...change }).filter(
        ([, value]) => value !== undefined,
      )
      const answer = await call(operation, Object.fromEntries(headers) as Record<string, string>)
      assertRefused(answer, operation, [403, 'cross_site_request'])
    }
  })
}

test('403 fresh_sign_in_required on the operations that need a recent sign-in, and on no other', async () => {
  assert.ok(operations.some((operation) => operation['x-fresh-sign-in']))
  for (const operation of closed) {
    const cookie = await sessionWith('signed_in_at', ago(15 * MINUTE_MS))
    const answer = await callAs(operation, { cookie })
    if (operation['x-fresh-sign-in']) assertRefused(answer, operation, [403, 'fresh_sign_in_required'])
    else assert.notEqual(answer.body?.error?.code, 'fresh_sign_in_required', nameOf(operation))
  }
})

test('no response of an operation can be cached', async () => {
  for (const operation of closed) {
    const { headers } = await callAs(operation, await createPerson(api, caller))
    assert.match(headers.get('cache-control') ?? '', /no-store/, nameOf(operation))
    assert.equal(headers.get('x-content-type-options'), 'nosniff', nameOf(operation))
    assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin', nameOf(operation))
  }
})

/** The cookie of a new session of an admin, with one of its times changed. */
async function sessionWith(column: string, at: Date): Promise<string> {
  const { sql } = api.services
  const { userId, cookie } = await createPerson(api, caller)
  await sql`update user_sessions set ${sql({ [column]: at })} where user_id = ${userId}`
  return cookie
}

async function sessionOfDisabled(): Promise<string> {
  const { userId } = await createPerson(api, caller)
  const cookie = await signIn(api, userId)
  await api.services.sql`update users set disabled_at = now() where id = ${userId}`
  return cookie
}

function ago(ms: number): Date {
  return new Date(api.clock.now().getTime() - ms)
}

function mistype(cookie: string): string {
  const at = cookie.length - 10
  return cookie.slice(0, at) + (cookie[at] === 'a' ? 'b' : 'a') + cookie.slice(at + 1)
}

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { type Answer, type Caller, startTestApi, type TestApi } from '../../support/api.ts'
import { standInConsole } from '../../support/built-console.ts'
import { sendReport, uploadArtifact } from '../../support/ci-reports.ts'
import { createRun, postRun } from '../../support/ci-runs.ts'
import { createPerson, type Person, requestAs } from '../../support/people.ts'

const ON_EVERY_RESPONSE = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}
const DATA = "default-src 'none'; frame-ancestors 'none'"
const DOWNLOAD = "sandbox; default-src 'none'"

let stand: Awaited<ReturnType<typeof standInConsole>>
let api: TestApi
let overTls: TestApi
let caller: Caller
let person: Person
let artifact: string

before(async () => {
  stand = await standInConsole()
  await stand.build()
  api = await startTestApi({ env: { SHIPLOCK_CONSOLE: stand.directory } })
  overTls = await startTestApi({ beside: api, env: { SHIPLOCK_BASE_URL: 'https://shiplock.example' } })
  caller = await api.caller()
  person = await createPerson(api, caller)
  const report = await sendReport(api, caller, (await createRun(api, caller)).id)
  artifact = await uploadArtifact(api, caller, report as never, 'site/index.html', '<script>alert(1)</script>')
})
after(async () => {
  await overTls?.close()
  await api?.close()
  await stand?.remove()
})

const get = (path: string, headers: Record<string, string> = {}) => api.request('GET', path, { headers })
const read = (path: string) => api.request('GET', path, { key: caller.key })
const browse = (path: string) => requestAs(api, person, 'GET', path)

async function notModified(path: string): Promise<Answer> {
  const { headers } = await get(path)
  return get(path, { 'if-none-match': headers.get('etag') ?? '' })
}

type Kind = [status: number, policy: string | RegExp, respond: () => Promise<Answer>]

const KINDS: Record<string, Kind> = {
  'a list': [200, DATA, () => read('/v1/runs')],
  'a created object': [201, DATA, () => postRun(api, caller)],
  'an invalid body': [400, DATA, () => postRun(api, caller, { commit_sha: 'x' })],
  'an address that cannot be decoded': [400, DATA, () => get('/v1/runs/%zz')],
  'a missing credential': [401, DATA, () => get('/v1/runs')],
  'a missing session': [401, DATA, () => get('/app/api/session')],
  'a refused page of another site': [403, DATA, () => api.request('POST', '/app/api/sign-in/password', { body: {} })],
  'an object that does not exist': [404, DATA, () => read('/v1/runs/nothing')],
  'a path that does not exist': [404, DATA, () => get('/v1/nothing')],
  'another method': [405, DATA, () => api.request('DELETE', '/v1/runs')],
  'another media type': [
    415,
    DATA,
    () => api.request('POST', '/v1/ci/runs', { key: caller.key, body: 'x', headers: { 'content-type': 'text/plain' } }),
  ],
  'an upload without a signature': [403, DATA, () => api.request('PUT', '/storage/objects', { body: 'x' })],
  'a refused webhook': [401, DATA, () => api.request('POST', '/webhooks/github', { body: '{}' })],
  'the state of the server': [200, DATA, () => get('/healthz')],
  'the description of the API': [200, DATA, () => get('/v1/openapi.json')],
  'the list of sessions': [200, DATA, () => browse('/app/api/account/sessions')],
  'a downloaded artifact': [200, DOWNLOAD, () => browse(`/artifacts/${artifact}/download`)],
  'an exported audit log': [200, DATA, () => browse('/audit-log/export?format=csv')],
  'the pages of the documentation': [200, /^default-src 'self';.*frame-ancestors 'self'/, () => get('/docs/')],
  'the page of the console': [200, /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'$/, () => get('/')],
  'a file of the console': [200, /^default-src 'none'; script-src 'self'/, () => get('/assets/main-B2xK9f.js')],
  'a known file of the console': [
    304,
    /^default-src 'none'; script-src 'self'/,
    () => notModified('/assets/main-B2xK9f.js'),
  ],
}

for (const [kind, [status, policy, respond]] of Object.entries(KINDS))
  test(`${status} for ${kind} has the headers that protect browsers`, async () => {
    const { status: found, headers, text: body } = await respond()
    assert.equal(found, status, body.slice(0, 500))
    assertHeaders(headers)
    const sent = headers.get('content-security-policy') ?? ''
    if (typeof policy === 'string') assert.equal(sent, policy)
    else assert.match(sent, policy)
    assert.equal(headers.get('strict-transport-security'), null)
  })

function assertHeaders(headers: Headers): void {
  for (const [name, value] of Object.entries(ON_EVERY_RESPONSE)) assert.equal(headers.get(name), value, name)
}

test('bytes that are no HTTP are answered with the same headers', async () => {
  const { hostname, port } = new URL(api.url)
  const socket = connect(Number(port), hostname)
  socket.write('GET / HTTP/9.9\r\n\r\n')
  const [head = ''] = (await text(socket)).split('\r\n\r\n')
  const lines = head.split('\r\n').slice(1)
  assertHeaders(new Headers(lines.map((line) => line.split(': ') as [string, string])))
})

test('files of users are saved under their name, and never shown', async () => {
  for (const [path, name] of [
    [`/artifacts/${artifact}/download`, 'index.html'],
    ['/audit-log/export?format=csv', 'audit-log-'],
  ] as const) {
    const { headers } = await browse(path)
    assert.match(headers.get('content-disposition') ?? '', new RegExp(`^attachment; filename="${name}`))
  }
})

test('with an https base URL, browsers are told to use https only, in errors too', async () => {
  for (const path of ['/healthz', '/v1/runs', '/v1/nothing', '/v1/runs/%zz', '/']) {
    const { headers } = await overTls.request('GET', path)
    assert.equal(headers.get('strict-transport-security'), 'max-age=31536000', path)
  }
})

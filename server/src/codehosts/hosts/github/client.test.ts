import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import {
  type Answer,
  credentialsOf,
  type Received,
  startGithubAnswers,
  TOKEN,
} from '../../../../test/support/github-answers.ts'
import { hostRepository } from '../../../../test/support/host-objects.ts'
import { HostRefusal, HostUnavailable } from '../../code-host.ts'

const repository = hostRepository()
const USER = { id: 7, login: 'ada', type: 'User', name: 'Ada' }
const ACCESS = { id: 'a connection', installation_id: '5', host: 'github.com' }

/** A client whose requests get these answers one after the other. The last answer is repeated. */
async function clientWith(t: TestContext, answers: Answer[], options: Parameters<typeof startGithubAnswers>[2] = {}) {
  let next = 0
  const github = await startGithubAnswers(
    t,
    ({ path }) => (path.endsWith('/access_tokens') ? undefined : answers[Math.min(next++, answers.length - 1)]),
    options,
  )
  return { ...github, client: github.codeHost.open(ACCESS) }
}

const seconds = (value: number) => Math.floor(Date.now() / 1000) + value
const limited = (fields: Record<string, string>, status = 403): Answer => ({
  status,
  headers: fields,
  data: { message: status === 429 ? 'Too many requests' : 'API rate limit exceeded for installation.' },
})
const primary = (reset: number) =>
  limited({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(seconds(reset)) })

test('requests have the token of the installation and the version of the API', async (t) => {
  const { client, received } = await clientWith(t, [{ data: USER }])
  assert.equal((await client.readAccount('ada'))?.name, 'Ada')
  const [request] = received
  assert.equal(request?.headers.authorization, `token ${TOKEN}`)
  assert.equal(request?.headers['x-github-api-version'], '2022-11-28')
})

const SHORT_LIMITS: [title: string, answer: () => Answer][] = [
  ['the primary limit', () => primary(2)],
  [
    'the secondary limit',
    () => ({
      status: 403,
      headers: { 'retry-after': '2' },
      data: { message: 'You have exceeded a secondary rate limit' },
    }),
  ],
  ['429 with Retry-After only', () => limited({ 'retry-after': '2' }, 429)],
  ['429 without a time', () => limited({}, 429)],
]

for (const [title, answer] of SHORT_LIMITS) {
  test(`no limit is waited for in a worker, however short: ${title}`, async (t) => {
    const { client, received } = await clientWith(t, [answer(), { data: USER }])
    await assert.rejects(client.readAccount('ada'), (error: HostUnavailable) => error.retryAt !== null)
    await assert.rejects(client.readAccount('ada'), HostUnavailable)
    assert.equal(received.length, 1)
  })
}

const LONG_LIMITS: [title: string, answer: () => Answer][] = [
  ['the primary limit', () => primary(600)],
  ['Retry-After', () => limited({ 'retry-after': '600' })],
  ['429 with Retry-After', () => limited({ 'retry-after': '600' }, 429)],
]

for (const [title, answer] of LONG_LIMITS) {
  test(`a long limit makes the host unavailable until its end, and no request is sent before: ${title}`, async (t) => {
    const { client, received } = await clientWith(t, [answer(), { data: USER }])
    await assert.rejects(client.readAccount('ada'), (error: HostUnavailable) => {
      const wait = ((error.retryAt?.getTime() ?? 0) - Date.now()) / 1000
      return error instanceof HostUnavailable && wait > 580 && wait < 620
    })
    await assert.rejects(client.readAccount('ada'), HostUnavailable)
    assert.equal(received.length, 1)
  })
}

test('a server that fails is asked again, and unavailable after three tries', async (t) => {
  const failing: Answer = { status: 503, data: { message: 'Unavailable' } }
  const some = await clientWith(t, [failing, failing, { data: USER }])
  assert.equal((await some.client.readAccount('ada'))?.login, 'ada')
  const down = await clientWith(t, [failing])
  const message = 'GitHub answered 503 to GET /users/ada: Unavailable.'
  await assert.rejects(down.client.readAccount('ada'), { message, retryAt: null })
  assert.equal(down.received.length, 3)
})

test('an impatient client sends a request once, and waits for no limit', async (t) => {
  const impatient = { ...ACCESS, impatient: true }
  for (const answer of [{ status: 503, data: { message: 'Unavailable' } }, primary(2), limited({}, 429)]) {
    const { codeHost, received } = await clientWith(t, [answer, { data: USER }])
    await assert.rejects(codeHost.open(impatient).readAccount('ada'), HostUnavailable)
    assert.equal(received.length, 1)
  }
})

test('an impatient client waits five seconds for an answer', async (t) => {
  const { codeHost } = await clientWith(t, [() => {}])
  const started = performance.now()
  await assert.rejects(codeHost.open({ ...ACCESS, impatient: true }).readAccount('ada'), HostUnavailable)
  const seconds = (performance.now() - started) / 1000
  assert.ok(seconds > 4.5 && seconds < 9, `${seconds} s`)
})

test('a server that cannot be reached is unavailable', async (t) => {
  const { client } = await clientWith(t, [(response) => response.destroy()])
  await assert.rejects(client.readAccount('ada'), HostUnavailable)
})

test('a body that was cut off is not an answer', async (t) => {
  const cut: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' })
    response.write('{"id": 7, "login": "ada"', () => response.destroy())
  }
  const { client, received } = await clientWith(t, [cut, { data: USER }])
  assert.equal((await client.readAccount('ada'))?.login, 'ada')
  assert.equal(received.length, 2)
})

test('a page that is not JSON is not an answer', async (t) => {
  const page: Answer = (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
  const { client } = await clientWith(t, [page])
  await assert.rejects(client.readAccount('ada'), { message: "GitHub's answer to GET /users/{username} is not JSON." })
})

test('a slow answer ends at the time limit', async (t) => {
  const slow: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{')
  }
  const { client } = await clientWith(t, [slow], { timeLimitMs: 50 })
  await assert.rejects(client.readAccount('ada'), HostUnavailable)
})

test('a body of more than 64 MiB is not read to its end', async (t) => {
  let sent = 0
  const endless: Answer = (response) => {
    const chunk = Buffer.alloc(4 * 1024 * 1024, ' ')
    const more = () => {
      sent += chunk.length
      response.write(chunk, (error) => error || more())
    }
    response.on('error', () => {})
    response.writeHead(200, { 'content-type': 'application/json' })
    more()
  }
  const { client } = await clientWith(t, [endless], { timeLimitMs: 60_000 })
  await assert.rejects(client.readAccount('ada'), {
    message: /did not answer GET \/users\/ada: The response is longer/,
  })
  assert.ok(sent < 400 * 1024 * 1024)
})

for (const status of [403, 404, 409, 410, 422, 451, 501]) {
  test(`a read that is answered ${status} has no result, and is not repeated`, async (t) => {
    const { client, received } = await clientWith(t, [{ status, data: { message: 'No' } }])
    assert.equal(await client.readAccount('ada'), null)
    assert.equal(received.length, 1)
  })
}

test('an unchanged page is not read again', async (t) => {
  const answer = ({ headers }: Received): Answer | undefined => {
    if (headers['if-none-match'] === '"v1"') return { status: 304, headers: { etag: '"v1"' } }
    return { headers: { etag: '"v1"' }, data: [] }
  }
  const github = await startGithubAnswers(t, (request) =>
    request.path.endsWith('/pulls') ? answer(request) : undefined,
  )
  const client = github.codeHost.open(ACCESS)
  const page = await client.listPullRequests(repository, {})
  assert.deepEqual(page, { items: [], next: null, etag: '"v1"' })
  assert.equal(await client.listPullRequests(repository, { etag: '"v1"' }), 'not_modified')
})

const RUN = {
  id: 9,
  workflow_id: 1,
  event: 'push',
  head_sha: 'a'.repeat(40),
  created_at: '2026-03-01T10:00:00Z',
  updated_at: '2026-03-01T10:00:00Z',
}

test('a request for an old name follows the redirect of GitHub', async (t) => {
  const github = await startGithubAnswers(t, ({ path }) => {
    if (path === '/repos/acme/shop/actions/runs/9')
      return { status: 301, headers: { location: '/repositories/1001/actions/runs/9' }, data: { message: 'Moved' } }
    return path === '/repositories/1001/actions/runs/9' ? { data: RUN } : undefined
  })
  const run = await github.codeHost.open(ACCESS).readRun(repository, '9')
  assert.equal(run?.id, '9')
  assert.equal(github.received[1]?.headers.authorization, `token ${TOKEN}`)
})

test('a change for an old name is repeated at its new address with its body', async (t) => {
  const github = await startGithubAnswers(t, ({ path }) => {
    if (path.startsWith('/repos/acme/shop/statuses/'))
      return { status: 307, headers: { location: '/repositories/1001/statuses/abc' }, data: { message: 'Moved' } }
    return path === '/repositories/1001/statuses/abc' ? { status: 201, data: {} } : undefined
  })
  const status = {
    commit_sha: 'abc',
    context: 'c',
    state: 'success',
    description: 'd',
    url: 'https://shiplock.example',
  } as const
  await github.codeHost.open(ACCESS).act({ type: 'commit_status', repository, ...status })
  const { method, body } = github.received.at(-1) as Received
  assert.equal(method, 'POST')
  assert.deepEqual(body, { context: 'c', state: 'success', description: 'd', target_url: 'https://shiplock.example' })
})

test('an answer without a type is read as JSON', async (t) => {
  const { client } = await clientWith(t, [(response) => response.end(JSON.stringify(USER))])
  assert.equal((await client.readAccount('ada'))?.login, 'ada')
})

test('a name that is gone is looked up by the id once', async (t) => {
  const github = await startGithubAnswers(t, ({ path }) => {
    if (path === '/repositories/1001') return { data: { id: 1001, full_name: 'acme/store' } }
    return path === '/repos/acme/store/actions/runs/9' ? { data: RUN } : undefined
  })
  const client = github.codeHost.open(ACCESS)
  for (const _ of [1, 2]) assert.equal((await client.readRun(repository, '9'))?.id, '9')
  assert.equal(await client.readRun(repository, '10'), null)
  const asked = github.received.map(({ path }) => path)
  assert.deepEqual(asked, [
    '/repos/acme/shop/actions/runs/9',
    '/repositories/1001',
    '/repos/acme/store/actions/runs/9',
    '/repos/acme/store/actions/runs/9',
    '/repos/acme/store/actions/runs/10',
  ])
})

/** A server of another host that notes what it is sent. */
async function startOther(t: TestContext): Promise<{ url: string; headers: object[] }> {
  const headers: object[] = []
  const server = createServer((request, response) => {
    headers.push(request.headers)
    response.end('first line\nlast line ✓\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/log?signature=secret`, headers }
}

test('a redirect to another host is not followed with the token', async (t) => {
  const other = await startOther(t)
  const { client } = await clientWith(t, [{ status: 302, headers: { location: other.url } }])
  await assert.rejects(client.readAccount('ada'), HostUnavailable)
  assert.equal(other.headers.length, 0)
})

test('a log is read from the storage without the token, and only its end is kept', async (t) => {
  const other = await startOther(t)
  const { client } = await clientWith(t, [{ status: 302, headers: { location: other.url } }])
  assert.equal(await client.readJobLog(repository, '3', 1000), 'first line\nlast line ✓\n')
  assert.equal(await client.readJobLog(repository, '3', 9), 'line ✓\n')
  // The last three bytes begin in the middle of the check mark.
  assert.equal(await client.readJobLog(repository, '3', 3), '\n')
  assert.ok(other.headers.every((headers) => !('authorization' in headers)))
})

test('a log that GitHub sends itself is read; one that is gone has no text', async (t) => {
  const own = await clientWith(t, [(response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('a\0b')])
  assert.equal(await own.client.readJobLog(repository, '3', 1000), 'ab')
  const gone = await clientWith(t, [{ status: 410, data: { message: 'Gone' } }])
  assert.equal(await gone.client.readJobLog(repository, '3', 1000), null)
})

test('a log at an address that is not of GitHub is not read', async (t) => {
  const { client } = await clientWith(t, [{ status: 302, headers: { location: 'http://169.254.169.254/latest' } }])
  assert.equal(await client.readJobLog(repository, '3', 1000), null)
})

test('a rotated key is read again when GitHub refuses the old one', async (t) => {
  let appId = '17'
  const github = await startGithubAnswers(
    t,
    ({ path, headers }) => {
      if (!path.endsWith('/access_tokens')) return { data: USER }
      const issuer = JSON.parse(Buffer.from(headers.authorization?.split('.')[1] ?? '', 'base64url').toString()).iss
      return issuer === '18' ? undefined : { status: 401, data: { message: 'A JSON web token could not be decoded' } }
    },
    { readCredentials: () => credentialsOf({ app_id: appId }) },
  )
  const client = github.codeHost.open(ACCESS)
  await assert.rejects(client.readAccount('ada'), { message: /does not accept the credentials of the App/ })
  appId = '18'
  assert.equal((await client.readAccount('ada'))?.login, 'ada')
})

test('a token that was revoked is replaced', async (t) => {
  const started = Date.now()
  // The token is older than five seconds: a younger one may only not be known everywhere yet.
  t.mock.timers.enable({ apis: ['Date'], now: started - 10_000 })
  let tokens = 0
  const expires_at = '2099-01-01T00:00:00Z'
  const github = await startGithubAnswers(t, ({ path, headers }) => {
    if (path.endsWith('/access_tokens')) return { status: 201, data: { token: `t${++tokens}`, expires_at } }
    if (headers.authorization === 'token t2') return { data: USER }
    t.mock.timers.setTime(started)
    return { status: 401, data: { message: 'Bad credentials' } }
  })
  // The limiter of another installation would see the time jump.
  const client = github.codeHost.open({ ...ACCESS, installation_id: '6' })
  assert.equal((await client.readAccount('ada'))?.login, 'ada')
  assert.equal(tokens, 2)
})

test('a suspended and a removed installation are unavailable, not empty', async (t) => {
  const refusals: [status: number, message: string, expected: RegExp][] = [
    [403, 'This installation has been suspended', /The installation of the App is suspended/],
    [404, 'Not Found', /The App has no such installation/],
  ]
  for (const [status, message, expected] of refusals) {
    const github = await startGithubAnswers(t, () => ({ status, data: { message } }))
    const client = github.codeHost.open(ACCESS)
    await assert.rejects(client.listRepositories({}), { message: expected })
    await assert.rejects(client.readRun(repository, '9'), (error) => error instanceof HostUnavailable)
  }
})

test('without credentials every request is 409 not_configured', async (t) => {
  const { codeHost } = await startGithubAnswers(t, () => undefined, { readCredentials: () => null })
  const refused = { status: 409, code: 'not_configured' }
  await assert.rejects(codeHost.host(), refused)
  await assert.rejects(codeHost.readInstallation('5', null), refused)
  await assert.rejects(codeHost.open(ACCESS).readRun(repository, '9'), refused)
})

test('no message of an error contains the token or the key', async (t) => {
  for (const status of [403, 422, 500]) {
    const { client } = await clientWith(t, [{ status, data: { message: 'No' } }])
    const action = {
      type: 'decision',
      target: { repository, environment: 'p', run_id: '1', callback_url: null, callback_secret: null },
      decision: 'approved',
      text: '',
    } as const
    const error = await client.act(action).then(
      () => null,
      (thrown: Error) => thrown,
    )
    assert.ok(error instanceof HostUnavailable || error instanceof HostRefusal)
    const { message, stack, cause } = error
    assert.doesNotMatch(JSON.stringify([error, message, stack, cause]), /ghs_|PRIVATE|bearer|authorization/i)
  }
})

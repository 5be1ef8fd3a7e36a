import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { openSql } from '../../src/platform/db/sql.ts'
import { insertConnection } from '../support/host-objects.ts'
import { type Running, runProgram, startProgram } from '../support/program.ts'

const PEM = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs1', format: 'pem' })
  .toString()
const SECRET = 'the webhook secret'

let github: Server
let apiUrl: string
/** What GitHub was asked, and how it answers. */
let asked: string[] = []
let answer: { status: number; body: unknown }

let dataDir: string
let running: Running
let env: Record<string, string>

before(async () => {
  github = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  }).listen(0, '127.0.0.1')
  await once(github, 'listening')
  apiUrl = `http://127.0.0.1:${(github.address() as AddressInfo).port}/api/v3`
  dataDir = mkdtempSync(join(tmpdir(), 'shiplock-provider-'))
  env = { SHIPLOCK_GITHUB_API_URL: apiUrl, SHIPLOCK_BASE_URL: 'https://ship.example' }
  running = await startProgram(dataDir, 'start', { ...env, SHIPLOCK_BASE_URL: '' })
})
after(async () => {
  await running?.stop()
  github?.close()
  rmSync(dataDir, { recursive: true, force: true })
})
beforeEach(() => {
  asked = []
  answer = { status: 201, body: createdApp() }
})

function createdApp() {
  const html_url = 'https://github.example/apps/shiplock-acme'
  return {
    id: 77,
    slug: 'shiplock-acme',
    html_url,
    pem: PEM,
    webhook_secret: SECRET,
    client_id: 'x',
    client_secret: 'y',
  }
}

async function printed(args: string[], more: Record<string, string> = {}) {
  const { code, stderr, json } = await runProgram(dataDir, [...args, '--json'], { ...env, ...more })
  assert.equal(code, 0, stderr)
  return json
}

async function refused(code: number, line: RegExp, args: string[], more: Record<string, string> = {}): Promise<void> {
  const ended = await runProgram(dataDir, args, { ...env, ...more })
  assert.deepEqual([ended.code, ended.stdout], [code, ''], ended.stderr)
  assert.match(ended.stderr, line)
}

/** The state of a new manifest flow. */
async function newState(...options: string[]): Promise<string> {
  const { url } = await printed(['provider', 'setup', 'github', ...options])
  assert.match(url, /^https:\/\/ship\.example\/setup\/github\?state=[A-Za-z0-9]{43}$/)
  return new URL(url).searchParams.get('state') as string
}

async function page(path: string) {
  const response = await fetch(running.ready.url + path)
  return { status: response.status, headers: response.headers, html: await response.text() }
}

/** The address and the manifest of the form on the page. */
function formOf(html: string) {
  const plain = (text = '') => text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
  const [, action] = /<form action="([^"]*)" method="post">/.exec(html) ?? []
  const [, manifest] = /name="manifest" value="([^"]*)"/.exec(html) ?? []
  return { action: plain(action), manifest: JSON.parse(plain(manifest)) }
}

const credentials = async () => {
  const findings: { check: string; detail: string; ok: boolean }[] = await printed(['doctor'])
  return findings.find(({ check }) => check === 'github app')
}

test('without credentials, connect names the settings and the command that creates an App', async () => {
  const connect = ['provider', 'connect', '--org', 'default', '--provider', 'github', '--installation', '1']
  await refused(1, /SHIPLOCK_GITHUB_APP_ID.*SHIPLOCK_GITHUB_WEBHOOK_SECRET.*provider setup github/, connect)
  await refused(2, /^--provider must be one of github,/m, connect.with(5, 'gitea'))
  await refused(1, /^Organization "nobody" does not exist/m, connect.with(3, 'nobody'))
  assert.deepEqual(await credentials(), {
    check: 'github app',
    ok: true,
    detail: 'not configured; run "provider setup github"',
  })
})

test('the address of setup shows a form with the manifest, as often as it is loaded', async () => {
  const state = await newState()
  await page(`/setup/github?state=${state}`)
  const { status, headers, html } = await page(`/setup/github?state=${state}`)
  assert.equal(status, 200)
  const { action, manifest } = formOf(html)
  assert.equal(action, `${new URL(apiUrl).origin}/settings/apps/new?state=${state}`)
  const base = running.ready.url
  assert.deepEqual(manifest, {
    name: 'Shiplock 127.0.0.1',
    url: base,
    hook_attributes: { url: `${base}/webhooks/github`, active: true },
    redirect_url: `${base}/setup/github/created`,
    setup_url: `${base}/setup/github/installed`,
    public: false,
    default_permissions: {
      metadata: 'read',
      actions: 'read',
      checks: 'read',
      contents: 'read',
      pull_requests: 'read',
      merge_queues: 'read',
      members: 'read',
      environments: 'read',
      deployments: 'write',
      statuses: 'write',
      security_events: 'write',
      vulnerability_alerts: 'write',
      secret_scanning_alerts: 'write',
    },
    default_events: [
      'check_run',
      'code_scanning_alert',
      'dependabot_alert',
      'deployment',
      'deployment_protection_rule',
      'deployment_review',
      'deployment_status',
      'pull_request',
      'pull_request_review',
      'push',
      'repository',
      'secret_scanning_alert',
      'workflow_job',
      'workflow_run',
    ],
  })
  const [, script = ''] = /<script>(.*)<\/script>/.exec(html) ?? []
  const policy = headers.get('content-security-policy') ?? ''
  assert.match(policy, /^default-src 'none';/)
  assert.ok(policy.includes(`script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`))
  assert.ok(policy.includes(`form-action ${new URL(apiUrl).origin}`))
  assert.deepEqual([headers.get('cache-control'), headers.get('referrer-policy')], ['no-store', 'no-referrer'])
  assert.deepEqual(asked, [])
})

test('options choose the organization, alerts that are only read, and an App for other accounts', async () => {
  const state = await newState('--organization', 'Acme-Inc', '--read-only-alerts', '--public')
  const { action, manifest } = formOf((await page(`/setup/github?state=${state}`)).html)
  assert.equal(action, `${new URL(apiUrl).origin}/organizations/Acme-Inc/settings/apps/new?state=${state}`)
  const { security_events, vulnerability_alerts, secret_scanning_alerts } = manifest.default_permissions
  assert.deepEqual([security_events, vulnerability_alerts, secret_scanning_alerts], ['read', 'read', 'read'])
  assert.equal(manifest.public, true)
  await refused(2, /must be the login of an organization/, ['provider', 'setup', 'github', '--organization', '../x'])
  await refused(2, /^--provider must be one of github/m, ['provider', 'setup', 'gitlab'])
})

test('GitHub sends the code back, the App is stored, and the page links to its installation', async () => {
  const state = await newState()
  const { status, headers, html } = await page(`/setup/github/created?code=abc123&state=${state}`)
  assert.equal(status, 200)
  assert.deepEqual(asked, ['POST /api/v3/app-manifests/abc123/conversions'])
  assert.match(html, /href="https:\/\/github\.example\/apps\/shiplock-acme\/installations\/new"/)
  assert.match(html, /provider connect/)
  assert.doesNotMatch(html, /the webhook secret|BEGIN/)
  assert.doesNotMatch(headers.get('content-security-policy') ?? '', /script-src/)
  const found = await credentials()
  assert.deepEqual([found?.ok, found?.detail], [true, `App 77 at ${apiUrl}, from the database`])

  for (const path of ['/setup/github', '/setup/github/created']) {
    const again = await page(`${path}?code=abc123&state=${state}`)
    assert.equal(again.status, 404)
    assert.match(again.html, /has been used or has expired/)
  }
  assert.equal(asked.length, 1)
})

test('the secrets are stored encrypted, and an App of the environment takes precedence', async () => {
  const dump = await runProgram(dataDir, ['doctor', '--json'], { ...env, SHIPLOCK_SECRET_KEY: 'x'.repeat(40) })
  const detail = dump.json.find(({ check }: { check: string }) => check === 'github app')?.detail
  assert.match(detail, /cannot be decrypted\. It was stored with another SHIPLOCK_SECRET_KEY/)
  const own = {
    SHIPLOCK_GITHUB_APP_ID: '5',
    SHIPLOCK_GITHUB_PRIVATE_KEY: PEM.replaceAll('\n', '\\n'),
    SHIPLOCK_GITHUB_WEBHOOK_SECRET: 'hunter1,hunter2',
  }
  const findings: { check: string; detail: string }[] = await printed(['doctor'], own)
  const row = findings.find(({ check }) => check === 'github app')
  assert.equal(row?.detail, `App 5 at ${apiUrl}, from SHIPLOCK_GITHUB_…, with 2 webhook secrets`)
  assert.doesNotMatch(JSON.stringify(findings), /hunter|BEGIN/)
  await refused(1, /SHIPLOCK_GITHUB_APP_ID names the App/, ['provider', 'setup', 'github'], own)
})

test('a wrong state, a wrong code and a refused code are pages with a 4xx', async () => {
  for (const query of ['', '?state=', '?state=unknown', '?state=a&state=b', '?state=%00'])
    for (const path of ['/setup/github', '/setup/github/created']) {
      const { status, headers, html } = await page(`${path}${query}${query && '&code=x'}`)
      assert.ok(status >= 400 && status < 500, `${path}${query}: ${status}`)
      if (query !== '?state=%00') assert.match(html, /provider setup github/)
      if (query !== '?state=%00') assert.match(headers.get('content-type') ?? '', /^text\/html/)
    }
  const state = await newState()
  assert.equal((await page(`/setup/github/created?code=../x&state=${state}`)).status, 400)
  assert.deepEqual(asked, [])
  answer = { status: 404, body: { message: 'Not Found' } }
  const { status, html } = await page(`/setup/github/created?code=old&state=${state}`)
  assert.equal(status, 400)
  assert.match(html, /GitHub refused the code with the status 404/)
})

test('while GitHub fails, the state stays usable; an answer without credentials uses it up', async () => {
  const state = await newState()
  answer = { status: 502, body: {} }
  assert.equal((await page(`/setup/github/created?code=c&state=${state}`)).status, 502)
  answer = { status: 201, body: { ...createdApp(), html_url: 'javascript:alert(1)' } }
  assert.equal((await page(`/setup/github/created?code=c&state=${state}`)).status, 400)
  assert.equal((await page(`/setup/github/created?code=c&state=${state}`)).status, 404)
})

test('of parallel returns from GitHub with one state, one is exchanged', async () => {
  const state = await newState()
  const pages = await Promise.all(Array.from({ length: 5 }, () => page(`/setup/github/created?code=c&state=${state}`)))
  assert.deepEqual(pages.map(({ status }) => status).sort(), [200, 404, 404, 404, 404])
  assert.equal(asked.length, 1)
})

test('provider list and disconnect explain an empty list and a wrong id', async () => {
  assert.deepEqual(await printed(['provider', 'list']), [])
  assert.deepEqual(await printed(['provider', 'list', '--org', 'default']), [])
  assert.match((await runProgram(dataDir, ['provider', 'list'], env)).stdout, /^There are no connections/)
  await refused(1, /^Organization "nobody" does not exist/m, ['provider', 'list', '--org', 'nobody'])
  await refused(2, /is not a connection id/, ['provider', 'disconnect', 'x'])
  await refused(1, /^The connection does not exist/m, [
    'provider',
    'disconnect',
    '0f0e0d0c-0b0a-4908-8706-050403020100',
  ])
})

test('provider list and doctor show the progress and the failures of connections, and waiting installations', async () => {
  const database = (await printed(['doctor'])).find(({ check }: { check: string }) => check === 'database')
  const sql = openSql(database.url, { max: 1, applicationName: 'test' })
  try {
    const { id: orgId } = (await printed(['org', 'list']))[0]
    const { connection_id } = await insertConnection(sql, orgId)
    await sql`
      update codehost_connections
      set sync_state = 'running', sync_phase = 'runs', sync_done = 312, sync_total = 1000`
    const away = {
      org_id: orgId,
      provider: 'github',
      host: 'github.com',
      tracked_branch: 'main',
      created_at: new Date(),
    }
    const gone = { ...away, id: '2', full_name: 'acme/gone', owner_id: '55', archived: true, deleted_at: new Date() }
    const left = { ...away, id: '3', full_name: 'acme/left', owner_id: '55', archived: true }
    await sql`insert into repositories ${sql(gone)}`
    await sql`insert into repositories ${sql(left)}`
    const installation = { provider: 'github', host: 'github.com', id: '4711' }
    const seen = { first_seen_at: new Date(), last_event_at: new Date('2026-03-01T10:00:00Z') }
    await sql`insert into codehost_installations ${sql({ ...installation, ...seen })}`

    const [connected, waiting] = await printed(['provider', 'list', '--org', 'default'])
    assert.deepEqual([connected.id, connected.sync.phase, connected.sync.done], [connection_id, 'runs', 312])
    assert.deepEqual(waiting, {
      ...installation,
      account: null,
      status: 'waiting',
      repositories: null,
      connected_at: null,
      last_event_at: '2026-03-01T10:00:00.000Z',
      last_synced_at: null,
      sync: { state: 'idle', phase: null, done: null, total: null, error: null },
      refusals: [],
      refusals_total: 0,
    })
    assert.deepEqual(Object.keys(waiting).sort(), Object.keys(connected).sort())
    const text = (await runProgram(dataDir, ['provider', 'list'], env)).stdout
    assert.match(text, / default +github\.com +acme +active +all +- +importing runs 312\/1000$/m)
    assert.match(text, /^4711 +- +github\.com +- +waiting /m)

    const states = (await runProgram(dataDir, ['repo', 'list', '--org', 'default'], env)).stdout
    assert.match(states, /acme\/shop .* connected$/m)
    assert.match(states, /acme\/gone .* deleted$/m)
    assert.match(states, /acme\/left .* disconnected, archived$/m)

    await sql`update codehost_connections set status = 'suspended', sync_state = 'failed', sync_error = 'no answer'`
    const { code, json } = await runProgram(dataDir, ['doctor', '--json'], env)
    const shown = json.filter(({ check }: { check: string }) => ['connections', 'installations'].includes(check))
    const rows = shown.map(({ check, ok, detail }: { check: string; ok: boolean; detail: string }) => ({
      check,
      ok,
      detail,
    }))
    const problems = 'acme is suspended on its code host; the synchronization of acme failed: no answer'
    assert.deepEqual(
      [code, rows],
      [
        1,
        [
          { check: 'connections', ok: false, detail: `1 connected account; ${problems}` },
          { check: 'installations', ok: true, detail: 'waiting for "provider connect": 4711' },
        ],
      ],
    )
    const disconnected = await printed(['provider', 'disconnect', connection_id])
    assert.deepEqual(disconnected, (await printed(['provider', 'list']))[0])
    assert.deepEqual(
      [disconnected.id, disconnected.status, disconnected.account.login],
      [connection_id, 'removed', 'acme'],
    )
    await refused(1, /^The connection to acme is already removed/m, ['provider', 'disconnect', connection_id])
  } finally {
    await sql.end()
  }
})

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { AUTHORITY, startCompanyProxy } from '../../packages/network/test/support/company-proxy.ts'
import { type Caller, startTestApi, type TestApi } from '../../server/test/support/api.ts'
import type { Json } from '../../server/test/support/json.ts'
import { githubClaims } from '../../server/test/support/oidc-claims.ts'
import { createTrust } from '../../server/test/support/oidc-issuer.ts'
import { runAction } from './ci/github-workflow.ts'
import { GITHUB } from './ci/variables.ts'
import { type Machine, startMachine } from './support/machine.ts'
import { startTokenEndpoint, type TokenEndpoint } from './support/token-endpoint.ts'

let api: TestApi
let caller: Caller
let tokens: TokenEndpoint
/** Changed by tests: the claims of the next tokens. */
let claims: Json

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  claims = githubClaims()
  tokens = await startTokenEndpoint(() => claims, api.clock)
  await createTrust(api, caller.orgId, { issuer: tokens.issuer.url, audience: null })
})
after(async () => {
  await tokens?.close()
  await api?.close()
})

type Stepped = { code: number | null; stdout: string; outputs: Record<string, string>; summary: string }

/** Runs the step on a machine where the tests have written their reports. */
async function step(machine: Machine, inputs: Record<string, string>, env: Json = {}): Promise<Stepped> {
  const files = { GITHUB_OUTPUT: join(machine.temp, 'output'), GITHUB_STEP_SUMMARY: join(machine.temp, 'summary') }
  for (const path of Object.values(files)) writeFileSync(path, '')
  const variables = Object.entries({ url: api.url, ...inputs }).map(([name, value]) => [
    `INPUT_${name.toUpperCase()}`,
    value,
  ])
  const { code, stdout } = await runAction(machine, {
    ...GITHUB,
    ...files,
    ACTIONS_ID_TOKEN_REQUEST_URL: `${tokens.url}/token?api-version=2.0`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: tokens.secret,
    ...Object.fromEntries(variables),
    ...env,
  })
  const outputs = readFileSync(files.GITHUB_OUTPUT, 'utf8').matchAll(/^(.+)<<(.+)\n(.*)\n\2$/gm)
  return {
    code,
    stdout,
    outputs: Object.fromEntries([...outputs].map(([, name, , value]) => [name, value])),
    summary: readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8'),
  }
}

const ALL = {
  junit: 'prepared/junit/*.xml',
  coverage: 'prepared/lcov.info',
  sbom: 'prepared/bom.json',
  scan: 'prepared/*.sarif',
  artifacts: 'package.json\nprepared\n!prepared/junit/**',
  attestations: '[{"kind": "custom", "name": "licences", "status": "warn", "data": {"unknown": 2}}]',
  ownership: '.github/CODEOWNERS',
  images: `GHCR.io/acme/shop:1@sha256:${'e'.repeat(64)}`,
  summary: '# Shop',
  'job-name': 'test',
  matrix: '{"node": 24}',
  name: 'all',
}

/** The stored report, its attestations and its files. */
async function storedReport(id: string | undefined): Promise<Json> {
  const { sql } = api.services
  const [report] = await sql`select * from ci_reports where org_id = ${caller.orgId} and id = ${id ?? ''}`
  const attestations = await sql`
    select kind, name, status, trust
    from ci_attestations
    where org_id = ${caller.orgId}
      and report_id = ${id ?? ''}
    order by kind, name`
  const files =
    await sql`select path, status from ci_artifacts where org_id = ${caller.orgId} and report_id = ${id ?? ''} order by path`
  const subjects = await sql`select name from ci_subjects where report_id = ${id ?? ''}`
  return { report, attestations, files, subjects: subjects.map(({ name }) => name) }
}

function shopMachine(): Machine {
  const machine = startMachine()
  machine.addFile('.github/CODEOWNERS', '* @acme/shop\n')
  return machine
}

test('every input becomes part of a verified report of the run that the token names', async () => {
  using machine = shopMachine()
  const { code, stdout, outputs, summary } = await step(machine, ALL)
  assert.equal(code, 0, stdout)
  const { report, attestations, files, subjects } = await storedReport(outputs['report-id'])
  assert.deepEqual(subjects, ['ghcr.io/acme/shop'])
  assert.deepEqual(
    attestations.map(({ kind, name, status, trust }: Json) => [kind, name, status, trust]),
    [
      ['coverage', 'coverage', 'info', 'verified'],
      ['custom', 'licences', 'warn', 'verified'],
      ['ownership', 'ownership', 'info', 'verified'],
      ['sbom', 'prepared/bom.json', 'info', 'verified'],
      ['scan', 'prepared/scan.sarif', 'pass', 'verified'],
      ['test-results', 'tests', 'pass', 'verified'],
    ],
  )
  const paths = ['.github/CODEOWNERS', 'package.json', 'prepared/bom.json', 'prepared/lcov.info', 'prepared/scan.sarif']
  assert.deepEqual(
    files.map(({ path, status }: Json) => [path, status]),
    paths.map((path) => [path, 'uploaded']),
  )
  assert.deepEqual([report.job_name, report.matrix, report.name], ['test', { node: 24 }, 'all'])
  assert.match(outputs['report-url'] ?? '', /^http:\/\/localhost:\d+\//)
  assert.ok(stdout.includes(`Report: ${outputs['report-url']}`))
  assert.ok(summary.includes(`(${outputs['report-url']})`))
  assert.match(summary, /Coverage: 75 %/)
})

test('the step reports through a proxy that reads TLS, with the authority of the company', async () => {
  using machine = shopMachine()
  const proxy = await startCompanyProxy(api.url, 'ada:s3cret')
  try {
    const inputs = { ...ALL, url: 'https://shiplock.example.test', audience: api.url, name: 'proxied' }
    const env = { HTTPS_PROXY: proxy.url, SHIPLOCK_CA_FILE: AUTHORITY }
    const { code, stdout, outputs } = await step(machine, inputs, env)
    assert.equal(code, 0, stdout)
    assert.equal((await storedReport(outputs['report-id'])).report.name, 'proxied')
    assert.ok(proxy.asked.includes('CONNECT shiplock.example.test:443'))
    const without = await step(machine, inputs, { HTTPS_PROXY: proxy.url })
    assert.equal(without.code, 1)
    assert.match(without.stdout, /Inspection CA, Example Company/)
    assert.ok(!without.stdout.includes('s3cret'))
  } finally {
    proxy.close()
  }
})

test('a repeated step replaces its report and sends no file again', async () => {
  using machine = shopMachine()
  const first = await step(machine, { artifacts: 'package.json' })
  const second = await step(machine, { artifacts: 'package.json' })
  assert.equal(second.outputs['report-id'], first.outputs['report-id'])
  assert.match(second.stdout, /^package\.json is already uploaded\.$/m)
  assert.equal(second.code, 0)
})

test('the token is masked in the log and is in no other line', async () => {
  using machine = shopMachine()
  const { stdout } = await step(machine, { summary: 'Shop' })
  const [, token = ''] = /^::add-mask::(.+)$/m.exec(stdout) ?? assert.fail(stdout)
  assert.equal(token.split('.').length, 3)
  assert.ok(!stdout.replaceAll(/^::add-mask::.*$/gm, '').includes(token))
})

test('prodgator-url is an alias of url, and a matrix of null is no matrix', async () => {
  using machine = shopMachine()
  const { code, stdout } = await step(machine, { url: '', 'prodgator-url': `${api.url}/`, matrix: 'null' })
  assert.equal(code, 0, stdout)
})

test('a token that expires on its way is requested again', async () => {
  using machine = shopMachine()
  const expired = Math.floor(api.clock.now().getTime() / 1000) - 3600
  claims = { ...githubClaims(), iat: expired - 300, nbf: expired - 300, exp: expired }
  const stepped = step(machine, { summary: 'Shop' })
  await tokens.issued()
  claims = githubClaims()
  const { code, stdout } = await stepped
  assert.equal(code, 0, stdout)
  assert.match(stdout, /expired.* Trying again in 2 s \(try 2 of 6\)/)
})

test('where organizations share the server, the token is for the one that the input names', async () => {
  using machine = shopMachine()
  const other = await api.caller()
  const conditions = { repository: 'acme/shop' }
  await createTrust(api, other.orgId, { issuer: tokens.issuer.url, audience: null, conditions })
  const named = await step(machine, { summary: 'Shop', organization: other.slug })
  assert.equal(named.code, 0, named.stdout)
  const unknown = await step(machine, { summary: 'Shop', organization: 'nobody' })
  assert.match(unknown.stdout, /^::error::TOKEN_INVALID: /m)
  const wrong = await step(machine, { summary: 'Shop', organization: '../acme' })
  assert.match(wrong.stdout, /^::error::Input "organization": "\.\.\/acme" is not the short name/m)
})

test('a repository without a trust is an error with the command that creates one', async () => {
  using machine = shopMachine()
  claims = { ...githubClaims(), repository: 'acme/other', repository_id: '1' }
  const failed = await step(machine, { summary: 'Shop' })
  const warned = await step(machine, { summary: 'Shop', 'fail-on-error': 'false' })
  claims = githubClaims()
  assert.deepEqual([failed.code, warned.code], [1, 0])
  assert.match(failed.stdout, /^::error::REPO_NOT_LINKED: .*trust create .*--github acme\/shop/m)
  assert.match(warned.stdout, /^::warning::REPO_NOT_LINKED: /m)
})

test('a server that refuses the report is named with its code', async () => {
  using machine = shopMachine()
  const attestations = '[{"kind": "coverage", "name": "a", "data": {"lines": 101}}]'
  const { code, stdout } = await step(machine, { attestations })
  assert.equal(code, 1)
  assert.match(stdout, /^::error::INVALID_REQUEST: /m)
})

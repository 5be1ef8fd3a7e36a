import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Claims } from '../../src/access/oidc-trusts/claims.ts'
import { newRun } from '../support/ci-runs.ts'
import { githubClaims } from '../support/oidc-claims.ts'
import { type Issuer, startIssuer } from '../support/oidc-issuer.ts'
import { type Running, runProgram, startProgram } from '../support/program.ts'
import { assertRefused, printedBy } from '../support/run-command.ts'

let dataDir: string
let running: Running
let issuer: Issuer

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'shiplock-trusts-'))
  running = await startProgram(dataDir)
  issuer = await startIssuer()
  await json('org', 'create', 'acme', '--name', 'Acme')
})

after(async () => {
  await issuer?.close()
  await running?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

const json = (...args: string[]) => printedBy(dataDir, args)
const create = (...args: string[]) => json('trust', 'create', '--org', 'default', ...args)
const refused = (code: number, line: RegExp, ...args: string[]) =>
  assertRefused(dataDir, code, line, ['trust', 'create', '--org', 'default', ...args])

/** The default base URL, because the commands run with port 0, and the organization: there is another one. */
const AUDIENCE = 'http://127.0.0.1:0/default'

function token(claims: Claims = {}): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  return issuer.sign({ ...githubClaims(), aud: AUDIENCE, iat: now, nbf: now, exp: now + 300, ...claims })
}

async function post(key: string, repository = 'github.com/acme/shop'): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const run = { method: 'POST', headers, body: JSON.stringify(newRun({ repository })) }
  return (await fetch(`${running.ready.url}/v1/ci/runs`, run)).status
}

async function testToken(given: string, org = 'default') {
  const { code, stdout, stderr } = await runProgram(
    dataDir,
    ['trust', 'test', '--org', org, '--token', '-', '--json'],
    {},
    given,
  )
  return { code, stderr, printed: JSON.parse(stdout) }
}

test('trust create, list, test and revoke, with the long options', async () => {
  const options = ['--name', 'shop', '--issuer', issuer.url, '--provider', 'github', '--scope', 'write:ci']
  const conditions = [
    '--condition',
    'repository=acme/shop',
    '--condition',
    'ref=refs/heads/*',
    '--condition',
    'ref=refs/tags/*',
  ]
  const { id, expires_at, ...rest } = await create(...options, ...conditions, '--expires-in', '90d')
  assert.match(id, /^[0-9a-f-]{36}$/)
  assert.ok(Math.abs(Date.parse(expires_at) - Date.now() - 90 * 86_400_000) < 60_000)
  assert.deepEqual(rest, {
    name: 'shop',
    issuer: issuer.url,
    audience: AUDIENCE,
    provider: 'github',
    conditions: { repository: 'acme/shop', ref: ['refs/heads/*', 'refs/tags/*'] },
    scopes: ['write:ci'],
    trusted_events: [],
    self_hosted: false,
    speaks_for: [],
    as: 'uploaded',
  })
  assert.equal(await post(await token()), 201)

  const good = await testToken(`${await token()}\n`)
  assert.equal(good.code, 0, good.stderr)
  assert.deepEqual([good.printed.accepted, good.printed.trust], [true, { id, name: 'shop' }])
  assert.equal(good.printed.job.run.external_run_id, '11223344556')

  const bad = await testToken(await token({ ref: 'refs/pull/7/merge' }))
  assert.equal(bad.code, 1)
  assert.match(bad.stderr, /^The token is rejected \(unmatched\): No trust has conditions that all hold/m)
  assert.deepEqual(bad.printed.trusts[0].conditions, [
    { claim: 'ref', expected: ['refs/heads/*', 'refs/tags/*'], seen: ['refs/pull/7/merge'], matches: false },
    { claim: 'repository', expected: ['acme/shop'], seen: ['acme/shop'], matches: true },
  ])

  const [listed] = (await json('trust', 'list', '--org', 'default')).filter((trust: { id: string }) => trust.id === id)
  assert.deepEqual([listed.created_by, listed.revoked_at], ['command line', null])
  assert.notEqual(listed.last_used_at, null)

  const used = await token()
  assert.equal(await post(used), 201)
  const revoked = await json('trust', 'revoke', id)
  assert.notEqual(revoked.revoked_at, null)
  assert.deepEqual({ ...revoked, revoked_at: null, last_used_at: listed.last_used_at }, listed)
  while ((await post(used)) !== 401);
  assert.deepEqual(await json('trust', 'revoke', id), revoked)
})

test('trust create --trusted-event and --self-hosted say which jobs count as verified', async () => {
  const terms = ['--trusted-event', 'fork', '--trusted-event', 'repository_dispatch', '--self-hosted']
  const { id, ...made } = await create('--github', 'acme/events', ...terms)
  assert.deepEqual([made.trusted_events, made.self_hosted], [['fork', 'repository_dispatch'], true])
  const [listed] = (await json('trust', 'list', '--org', 'default')).filter((trust: { id: string }) => trust.id === id)
  assert.deepEqual([listed.trusted_events, listed.self_hosted], [['fork', 'repository_dispatch'], true])
  await json('trust', 'revoke', id)
  await refused(2, /"Push" is not the name of an event/, '--github', 'acme/odd', '--trusted-event', 'Push')
  await refused(2, /Only a trust of the provider github/, '--gitlab', 'acme/odd', '--self-hosted')
})

test('trust create --speaks-for and --as name the repositories of a central pipeline', async () => {
  const terms = ['--speaks-for', 'acme/*', '--speaks-for', 'gitlab.com/acme/**', '--as', 'verified']
  const { id, ...made } = await create('--github', 'platform/scans', ...terms)
  assert.deepEqual([made.speaks_for, made.as], [['acme/*', 'gitlab.com/acme/**'], 'verified'])
  await json('trust', 'revoke', id)
  await refused(2, /needs speaks_for/, '--github', 'acme/odd', '--as', 'verified')
  await refused(2, /--as must be/, '--github', 'acme/odd', '--speaks-for', 'acme/*', '--as', 'key')
})

test('shorthands fill name, issuer, provider, audience, conditions and scopes', async () => {
  const scopes = ['write:security-findings', 'write:ci']
  const filled = async (...args: string[]) => {
    const { id, expires_at, trusted_events, self_hosted, speaks_for, as, ...rest } = await create(...args)
    await json('trust', 'revoke', id)
    assert.deepEqual([expires_at, trusted_events, self_hosted, speaks_for, as], [null, [], false, [], 'uploaded'])
    return rest
  }
  assert.deepEqual(await filled('--github', 'acme/shop'), {
    name: 'acme/shop',
    issuer: 'https://token.actions.githubusercontent.com',
    audience: AUDIENCE,
    provider: 'github',
    conditions: { repository: 'acme/shop' },
    scopes,
  })
  assert.deepEqual(await filled('--gitlab', 'acme/web/shop', '--name', 'N', '--scope', 'write:ci'), {
    name: 'N',
    issuer: 'https://gitlab.com',
    audience: AUDIENCE,
    provider: 'gitlab',
    conditions: { project_path: 'acme/web/shop' },
    scopes: ['write:ci'],
  })
  const [repository, workspace] = ['8864cd24-449d-4441-8862-cf4fe8ad6caa', 'e2b9cba7-4ecf-452c-bb1c-87add4084c99']
  const bitbucket = ['--bitbucket', 'acme', '--repository-uuid', `{${repository}}`]
  assert.deepEqual(await filled(...bitbucket, '--workspace-uuid', workspace), {
    name: `acme ${repository}`,
    issuer: 'https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc',
    audience: `ari:cloud:bitbucket::workspace/${workspace}`,
    provider: 'bitbucket',
    conditions: { repositoryUuid: `{${repository}}` },
    scopes,
  })
  assert.equal((await filled(...bitbucket)).audience, AUDIENCE)
  const azure = ['--azure', '0CA3DDD9-f0b0-4635-a98c-5866526961b6', '--repository-id', repository]
  assert.deepEqual(await filled(...azure, '--condition', 'rpo_ref=refs/heads/main'), {
    name: repository,
    issuer: 'https://vstoken.dev.azure.com/0ca3ddd9-f0b0-4635-a98c-5866526961b6',
    audience: 'api://AzureADTokenExchange',
    provider: 'azure',
    conditions: { rpo_id: repository, rpo_ref: 'refs/heads/main' },
    scopes,
  })
})

test('the provider is derived from the conditions if the issuer is not a known one', async () => {
  const options = ['--name', 'N', '--issuer', 'https://git.example.com', '--scope', 'write:ci']
  const { id, provider } = await create(...options, '--condition', 'project_path=acme/shop')
  assert.equal(provider, 'gitlab')
  await json('trust', 'revoke', id)
})

test('trust create corrects values that no token has, says so on standard error, and refuses what it cannot correct', async () => {
  const correct = async (...args: string[]) => {
    const all = ['trust', 'create', '--org', 'default', '--scope', 'write:ci', ...args, '--json']
    const { code, stdout, stderr } = await runProgram(dataDir, all)
    assert.equal(code, 0, stderr)
    const { issuer, conditions } = JSON.parse(stdout)
    return { issuer, conditions, notes: stderr.match(/No token has/g)?.length ?? 0 }
  }
  const [github, gitlab] = ['https://token.actions.githubusercontent.com', 'https://gitlab.example.com']
  assert.deepEqual(
    await correct(
      '--name',
      'A',
      '--issuer',
      `${github}//`,
      '--condition',
      'repository=https://github.com/acme/shop.git',
    ),
    { issuer: github, conditions: { repository: 'acme/shop' }, notes: 2 },
  )
  const path = { repository: 'acme/*' }
  assert.deepEqual(await correct('--github', 'https://github.com/acme/*/'), {
    issuer: github,
    conditions: path,
    notes: 1,
  })
  assert.deepEqual(await correct('--gitlab', `${gitlab}/acme/shop`, '--issuer', `${gitlab}/`), {
    ...{ issuer: gitlab, conditions: { project_path: 'acme/shop' }, notes: 2 },
  })
  assert.deepEqual(await correct('--github', 'acme/shop'), {
    issuer: github,
    conditions: { repository: 'acme/shop' },
    notes: 0,
  })
  await refused(2, /^--github must be owner\/name/, '--github', 'https://ghes.example.com/acme/shop')
  await refused(2, /^--gitlab must be group\/project/, '--gitlab', `${gitlab}/acme/shop`)
})

test('trust create refuses what cannot be trusted, with 2', async () => {
  const named = ['--name', 'N', '--scope', 'write:ci', '--condition', 'repository=acme/shop']
  await refused(2, /^The issuer must be an https URL/, ...named, '--issuer', 'http://issuer.example')
  await refused(2, /^The issuer must be an https URL/, ...named, '--issuer', 'https://issuer.example?x=1')
  await refused(2, /^--issuer URL is missing/, ...named)
  const issued = ['--name', 'N', '--issuer', 'https://issuer.example']
  await refused(2, /^--scope S is missing/, ...issued, '--condition', 'repository=acme/shop')
  for (const condition of ['repository=*', 'repository=*/*', 'ref=refs/heads/main'])
    await refused(
      2,
      /^The conditions must name what is trusted/,
      ...issued,
      '--scope',
      'write:ci',
      '--condition',
      condition,
    )
  await refused(2, /^--condition must be CLAIM=GLOB/, ...issued, '--scope', 'write:ci', '--condition', 'repository')
  await refused(2, /^A trust cannot have the scope read:security/, '--github', 'acme/shop', '--scope', 'read:security')
  await refused(2, /^--github must be owner\/name/, '--github', 'acme')
  await refused(2, /^The conditions must name/, '--github', '*/shop')
  await refused(2, /^--repository-uuid is missing/, '--bitbucket', 'acme')
  await refused(
    2,
    /^--repository-uuid requires --bitbucket/,
    '--repository-uuid',
    '8864cd24-449d-4441-8862-cf4fe8ad6caa',
  )
  await refused(2, /^Only one of --github/, '--github', 'a/b', '--gitlab', 'a/b')
})

test('trust create takes what another organization trusts, and prints what its jobs need', async () => {
  const printed = async (org: string, ...args: string[]) =>
    (await runProgram(dataDir, ['trust', 'create', '--org', org, ...args])).stdout
  assert.match(
    await printed('acme', '--github', 'initech/app'),
    /audience http:\/\/127\.0\.0\.1:0\/acme,[\s\S]*\n {2}env:\n {4}SHIPLOCK_URL: \S+\n {4}SHIPLOCK_ORGANIZATION: acme$/m,
  )
  assert.match(await printed('default', '--github', 'initech/*'), /SHIPLOCK_ORGANIZATION: default$/m)
  assert.match(
    await printed('acme', '--gitlab', 'initech/app'),
    /id_tokens:\n {4}SHIPLOCK_ID_TOKEN:\n {6}aud: http:\/\/127\.0\.0\.1:0\/acme$/m,
  )
  await refused(2, /must be|does not name the organization/, '--github', 'a/b', '--audience', 'http://127.0.0.1:0')
  await refused(2, /does not name the organization/, '--github', 'a/b', '--audience', 'http://127.0.0.1:0/acme')
})

test('trust list names what was refused because of another id, and trust unpin releases it', async () => {
  const { id } = await create('--github', 'umbrella/*', '--issuer', issuer.url)
  const named = { repository: 'umbrella/app', repository_owner: 'umbrella' }
  assert.equal(await post(await token({ ...named, repository_id: '1' }), 'github.com/umbrella/app'), 201)
  assert.equal(await post(await token({ ...named, repository_id: '2' }), 'github.com/umbrella/app'), 401)
  const listed = await runProgram(dataDir, ['trust', 'list', '--org', 'default'])
  const said = new RegExp(`\\(${id}\\) refused github\\.com/umbrella/app at .*: it has the id 2, and had 1 at first`)
  assert.match(listed.stdout, said)
  const tested = await testToken(await token({ ...named, repository_id: '2' }))
  assert.deepEqual([tested.code, tested.printed.reason], [1, 'unmatched'])
  await assertRefused(dataDir, 1, /does not exist|not found/i, [
    'trust',
    'unpin',
    id,
    '--name',
    'github.com/umbrella/x',
  ])
  const released = await json('trust', 'unpin', id, '--name', 'github.com/umbrella/app')
  assert.deepEqual(
    released.pins.map(({ name }: { name: string }) => name),
    ['github.com/umbrella/'],
  )
  assert.equal(await post(await token({ ...named, repository_id: '2' }), 'github.com/umbrella/app'), 201)
  assert.deepEqual((await json('trust', 'unpin', id)).pins, [])
  await json('trust', 'revoke', id)
})

test('trust test explains a token of another organization, a bad signature, and what is no token', async () => {
  const { id } = await create('--github', 'acme/shop', '--issuer', issuer.url)
  const other = await testToken(await token(), 'acme')
  assert.deepEqual([other.code, other.printed.reason], [1, 'invalid'])
  assert.match(other.printed.details, /^No trust has the issuer/)
  const changed = await testToken((await token()).replace(/\.[^.]+$/, `.${'A'.repeat(342)}`))
  assert.deepEqual([changed.code, changed.printed.reason], [1, 'invalid'])
  assert.match(changed.printed.details, /^The signature cannot be verified/)
  const checked = changed.printed.trusts.find((trust: { id: string }) => trust.id === id)
  assert.ok(checked.conditions.every(({ matches }: { matches: boolean }) => matches))
  const now = Math.floor(Date.now() / 1000)
  const expired = await testToken(await token({ iat: now - 400, nbf: now - 400, exp: now - 100 }))
  assert.deepEqual([expired.printed.reason, expired.printed.details], ['expired', 'The token has expired.'])
  assert.match((await testToken('hello')).printed.details, /^The token is not a signed JWT/)
  const text = await runProgram(dataDir, ['trust', 'test', '--org', 'default', '--token', '-'], {}, await token())
  assert.match(text.stdout, /acme\/shop +repository +acme\/shop +acme\/shop +matches/)
  assert.match(text.stdout, new RegExp(`Accepted by the trust "acme/shop" \\(${id}\\)`))
  await assertRefused(dataDir, 2, /^--token must be -/, ['trust', 'test', '--org', 'default', '--token', 'x'])
  await assertRefused(dataDir, 2, /^Standard input is empty/, ['trust', 'test', '--org', 'default', '--token', '-'])
})

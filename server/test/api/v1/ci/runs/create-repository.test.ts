import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { normalizeAddresses } from '../../../../../src/ci/provider-runs/provider-runs.job.ts'
import { startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertInvalid } from '../../../../support/assert-error.ts'
import { postReport } from '../../../../support/ci-reports.ts'
import { createRun, postRun } from '../../../../support/ci-runs.ts'
import { configureGate, getDeployment, openGate } from '../../../../support/gates.ts'
import { drainQueue } from '../../../../support/queue.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { sarif } from '../../../../support/sarif.ts'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

for (const repository of ['https://GitHub.com/acme/api.git', 'git@github.com:acme/api', 'github.com/acme/api']) {
  test(`201 and the normalized form of the repository ${repository}`, async () => {
    assert.equal((await createRun(api, await api.caller(), { repository })).repository, 'github.com/acme/api')
  })
}

test('400 at /body/repository beyond its bounds, and 201 at them', async () => {
  const caller = await api.caller()
  const longest = `h/o/${'n'.repeat(200)}/${'x'.repeat(95)}`
  assert.equal(longest.length, 300)
  assert.equal((await postRun(api, caller, { repository: longest })).status, 201)
  for (const repository of ['', `${longest}x`, 'api', 'acme/api', '../etc/passwd', 'h/a/b\n/c', 'file:///a/b/c']) {
    assertInvalid(await postRun(api, caller, { repository }), '/body/repository')
  }
})

const WITH_SECRETS = [
  'https://user:hunter2@github.com/acme/api',
  'https://hunter2@github.com/acme/api.git',
  'https://x-access-token:hunter2@github.com/acme/api',
  'ssh://git:hunter2@github.com/acme/api',
  'user:hunter2@github.com/acme/api',
  'hunter2@github.com/acme/api',
  'HTTPS://:hunter2@github.com/acme/api',
]

for (const repository of WITH_SECRETS) {
  test(`400 that does not repeat the credentials of ${repository}`, async () => {
    const answer = await postRun(api, await api.caller(), { repository })
    assertInvalid(answer, '/body/repository')
    assert.doesNotMatch(answer.text, /hunter2/)
  })
}

test('credentials in a repository address or a url are never logged, at any level', async () => {
  const program = new URL('../../../../support/post-runs.ts', import.meta.url).pathname
  const runs = [...WITH_SECRETS.map((repository) => ({ repository })), { url: 'https://user:hunter2@ci.example/1' }]
  const child = spawn(process.execPath, [program, ...runs.map((fields) => JSON.stringify(fields))])
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const [code] = await once(child, 'close')
  assert.equal(code, 0, output)
  assert.match(output, /statuses(?: 400){8}\n/)
  assert.doesNotMatch(output, /hunter2|shl_live_/)
})

async function link(
  orgId: string,
  provider: string,
  id: string,
  full_name: string,
  host = 'github.com',
): Promise<void> {
  await api.services.sql`
    insert into repositories (org_id, provider, id, host, full_name, tracked_branch, created_at)
    values (${orgId}, ${provider}, ${id}, ${host}, ${full_name}, 'main', ${api.clock.now()})`
}

test('linked_repository is the connected repository with the same name and host, in any case', async () => {
  const caller = await api.caller()
  await link(caller.orgId, 'gitlab', '7', 'acme/api', 'gitlab.com')
  await link(caller.orgId, 'github', '42', 'Acme/API')
  assert.deepEqual((await createRun(api, caller)).linked_repository, { provider: 'github', id: '42' })
  assert.equal((await createRun(api, caller, { repository: 'github.com/acme/apis' })).linked_repository, null)
})

test("linked_repository is never another organization's", async () => {
  const [owner, stranger] = [await api.caller(), await api.caller()]
  await link(owner.orgId, 'github', '42', 'acme/api')
  assert.equal((await createRun(api, stranger)).linked_repository, null)
})

test('runs in all forms of an address of Azure DevOps are of one repository, also those that were stored before', async () => {
  const caller = await api.caller()
  const { sql } = api.services
  const stored = await createRun(api, caller, { repository: 'https://dev.azure.com/acme/web/_git/shop' })
  assert.equal(stored.repository, 'dev.azure.com/acme/web/shop')
  await configureGate(api, caller)
  const gate = await openGate(api, caller, { run_id: stored.id })
  const former = 'dev.azure.com/acme/web/_git/shop'
  await sql`update ci_runs set repository = ${former}, attempt_repository = ${former} where id = ${stored.id}`
  await sql`update deployments set repository_full_name = 'acme/web/_git/shop' where id = ${gate.deployment_id}`
  // The job has not named the run yet, and its CI goes on with the new version.
  const again = await postRun(api, caller, {
    external_run_id: stored.external_run_id,
    repository: 'https://acme.visualstudio.com/web/_git/shop',
    ci_instance: 'dev.azure.com/acme',
  })
  assert.deepEqual(
    [again.status, again.body.data.id, again.body.data.ci_instance, again.body.data.conflicts],
    [200, stored.id, 'dev.azure.com/acme', undefined],
  )
  const expect = { repository: 'git@ssh.dev.azure.com:v3/acme/web/shop' }
  const { status } = await postReport(api, caller, stored.id, { job: {}, expect })
  assert.equal(status, 201)
  const other = await createRun(api, caller, { repository: 'git.example.com/web/_git/shop' })
  await link(caller.orgId, 'azure', 'a1', 'acme/web/shop', 'dev.azure.com')
  await normalizeAddresses.run(api.services, null as never)
  await drainQueue(api)
  const runs = await sql`select id, repository, attempt_repository from ci_runs where org_id = ${caller.orgId}`
  assert.deepEqual(
    Object.fromEntries(runs.map(({ id, repository, attempt_repository: own }) => [id, [repository, own]])),
    {
      [stored.id]: ['dev.azure.com/acme/web/shop', 'dev.azure.com/acme/web/shop'],
      [other.id]: ['git.example.com/web/_git/shop', null],
    },
  )
  assert.equal((await getDeployment(api, caller, gate.deployment_id)).repository_full_name, 'acme/web/shop')
})

test('the upgrade names what was reported for a repository of Azure DevOps, and later reports go on with it', async () => {
  const caller = await api.caller()
  const { sql } = api.services
  const upload = (repository: string, line: string) =>
    uploadReport(api, caller, sarif([], line), { repository, provider: 'azure', repositoryId: undefined })
  await upload('acme/web/shop', 'one')
  await sql`update reported_repositories set name = 'acme/web/_git/shop' where org_id = ${caller.orgId}`
  await link(caller.orgId, 'azure', 'a2', 'acme/other/_git/shop', 'dev.azure.com')
  for (const name of ['0050_names_of_reports', '0051_names_of_repositories']) {
    const text = readFileSync(new URL(`../../../../../migrations/${name}.sql`, import.meta.url), 'utf8')
    const [{ position, rows }] = await sql.unsafe<[{ position: null; rows: number }]>(text, [null])
    assert.deepEqual([position, rows], [null, 1], name)
  }
  await upload('acme/web/_git/shop', 'two')
  const names = await sql`select name from reported_repositories where org_id = ${caller.orgId}`
  assert.deepEqual(
    names.map(({ name }) => name),
    ['acme/web/shop'],
  )
  const [linked] = await sql`select full_name from repositories where org_id = ${caller.orgId}`
  assert.equal(linked?.full_name, 'acme/other/shop')
})

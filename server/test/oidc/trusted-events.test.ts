import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Claims } from '../../src/access/oidc-trusts/claims.ts'
import type { TrustProvider } from '../../src/access/oidc-trusts/token-job.ts'
import type { TrustRequest } from '../../src/access/oidc-trusts/trusts/trust-request.ts'
import { checkTrusts } from '../../src/commands/doctor-services.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { newRun } from '../support/ci-runs.ts'
import { createTrust } from '../support/oidc-issuer.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from '../support/token-caller.ts'
import { until } from '../support/until.ts'

const SEVEN = ['push', 'schedule', 'merge_group', 'workflow_dispatch', 'release', 'create', 'deployment']
const STRANGE = [
  ...['issue_comment', 'check_suite', 'repository_dispatch', 'workflow_run', 'pull_request_review', 'discussion'],
  ...['fork', 'pull_request_target', 'invented_next_year', undefined, 'toString'],
]
const PUBLIC = { repository_visibility: 'public', runner_environment: 'self-hosted' }

let api: TestApi
let caller: TokenCaller

before(async () => {
  api = await startTestApi()
  caller = await startTokenCaller(api)
})
after(async () => {
  await caller?.close()
  await api?.close()
})

/** The trust of a run that a job of GitHub Actions reports as its own. */
async function trustOf(fields: Claims, by = caller): Promise<string> {
  const claims = newRunClaims(fields)
  const { status, body, text } = await by.send('POST', '/v1/ci/runs', ownRun(claims), claims)
  assert.equal(status, 201, text)
  return body.data.trust
}

for (const event_name of SEVEN)
  test(`201 verified for ${event_name} of a branch and of a tag, untrusted for any other ref`, async () => {
    assert.equal(await trustOf({ event_name }), 'verified')
    assert.equal(await trustOf({ event_name, ref: 'refs/tags/v1', ref_type: 'tag' }), 'verified')
    for (const ref of ['refs/pull/7/merge', 'refs/notes/x', 'refs/heads/', '', undefined])
      assert.equal(await trustOf({ event_name, ref }), 'untrusted', ref)
  })

for (const event_name of STRANGE)
  test(`201 untrusted for the event ${event_name}`, async () => {
    assert.equal(await trustOf({ event_name }), 'untrusted')
  })

test('201 untrusted for a self-hosted runner of a public repository, verified for one of a private one', async () => {
  assert.equal(await trustOf(PUBLIC), 'untrusted')
  assert.equal(await trustOf({ ...PUBLIC, repository_visibility: 'private' }), 'verified')
  assert.equal(await trustOf({ ...PUBLIC, repository_visibility: undefined }), 'verified')
  assert.equal(await trustOf({ ...PUBLIC, runner_environment: 'github-hosted' }), 'verified')
})

test('a trust can count further events and self-hosted runners as verified, and no others', async (t) => {
  const events = { conditions: { repository: 'acme/shop' }, trusted_events: ['repository_dispatch'] }
  const dispatched = await startTokenCaller(api, { trust: events })
  t.after(() => dispatched.close())
  assert.equal(await trustOf({ event_name: 'repository_dispatch' }, dispatched), 'verified')
  assert.equal(await trustOf({ event_name: 'repository_dispatch', ref: 'refs/pull/7/merge' }, dispatched), 'untrusted')
  assert.equal(await trustOf({ event_name: 'repository_dispatch', ...PUBLIC }, dispatched), 'untrusted')
  assert.equal(await trustOf({ event_name: 'issue_comment' }, dispatched), 'untrusted')
  const hosted = await startTokenCaller(api, { trust: { self_hosted: true } })
  t.after(() => hosted.close())
  assert.equal(await trustOf(PUBLIC, hosted), 'verified')
  assert.equal(await trustOf({ ...PUBLIC, event_name: 'issue_comment' }, hosted), 'untrusted')
})

test('a GitLab pipeline is verified for branches, tags and merge requests of the project itself', async (t) => {
  const gitlab = await startTokenCaller(api, { provider: 'gitlab' })
  t.after(() => gitlab.close())
  const cases: [Claims, string][] = [
    [{}, 'verified'],
    [{ ref_path: 'refs/tags/v1' }, 'verified'],
    [{ ref_path: 'refs/merge-requests/7/head', pipeline_source: 'merge_request_event' }, 'verified'],
    [{ ref_path: 'refs/merge-requests/7/head', job_project_id: '999' }, 'untrusted'],
    [{ ref_path: 'refs/keep-around/7' }, 'untrusted'],
    [{ pipeline_source: 'external_pull_request_event' }, 'untrusted'],
  ]
  for (const [nth, [fields, trust]] of cases.entries()) {
    const claims = { pipeline_id: String(9000 + nth), ...fields }
    const run = { ci_system: 'gitlab-ci', external_run_id: claims.pipeline_id, repository: 'gitlab.com/acme/shop' }
    const body = newRun({ ...run, commit_sha: '8fe1b322a576d59fe6257052a4107df7dc1b8c78' })
    const made = await gitlab.send('POST', '/v1/ci/runs', body, claims)
    assert.deepEqual([made.status, made.body.data?.trust], [201, trust], JSON.stringify(fields) + made.text)
  }
})

test('trusted events are names of events, at most 20, and of trusts of GitHub only', async () => {
  const { orgId } = await api.caller()
  const refused: (Partial<TrustRequest> & { provider?: TrustProvider })[] = [
    { trusted_events: ['Push'] },
    { trusted_events: ['a b'] },
    { trusted_events: [''] },
    { trusted_events: Array.from('abcdefghijklmnopqrstu') },
    { trusted_events: ['fork'], provider: 'gitlab' },
    { self_hosted: true, provider: 'azure' },
  ]
  for (const fields of refused)
    await assert.rejects(createTrust(api, orgId, { issuer: 'https://ci.example', ...fields }), /event/, fields.provider)
})

test('doctor lists events of live trusts that count as untrusted, with the option that trusts them', async () => {
  const { services } = api
  const listed = async () => (await checkTrusts(services)).detail
  const own = new RegExp(`"test trust" \\(${caller.trustId}\\) let in `)
  await trustOf({ event_name: 'watch' })
  await trustOf({ ...PUBLIC, event_name: 'push' })
  await trustOf({ ...PUBLIC, event_name: 'gollum' })
  await trustOf({ event_name: 'push', ref: 'refs/pull/7/merge' })
  await trustOf({ event_name: 'pull_request' })
  await until('the event is listed', 10_000, async () =>
    /let in watch, last on .*--trusted-event watch/.test(await listed()),
  )
  await until('the runner is listed', 10_000, async () =>
    /push on self-hosted runners of a public repository, .*--self-hosted/.test(await listed()),
  )
  await until('both are listed', 10_000, async () => /--trusted-event gollum --self-hosted/.test(await listed()))
  assert.match(await listed(), own)
  assert.doesNotMatch(await listed(), /let in (?:push,|pull_request,)/)
  await services.sql`update oidc_trusts set revoked_at = now() where id = ${caller.trustId}`
  assert.doesNotMatch(await listed(), own)
  await services.sql`update oidc_trusts set revoked_at = null where id = ${caller.trustId}`
  await services.sql`update trust_events set last_seen = last_seen - 91`
  assert.match(await listed(), /no trust let in untrusted jobs in 90 days/)
})

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Claims } from '../../src/access/oidc-trusts/claims.ts'
import type { Provider } from '../../src/codehosts/catalogue.ts'
import type { HostRepository } from '../../src/codehosts/host-repository.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { hostRepository, hostRun, insertConnection } from '../support/host-objects.ts'
import { applyRuns } from '../support/provider-runs.ts'
import { startTokenCaller, type TokenCaller } from '../support/token-caller.ts'

const COMMIT = 'c291ea713801eb300054d353d279e7b02331f671'
const PROJECT = '271ef6f7-5998-4b0f-86fb-4b54d9129990'
const OTHER_PROJECT = '271ef6f7-5998-4b0f-86fb-4b54d9129991'
const PIPELINE = '805b0ca6-1086-4d23-b526-de1d38cf3bf1'

/** How each host names a run, and how the token of a job in it does. */
const HOSTS: {
  provider: Provider
  repository: Partial<HostRepository>
  /** The host's id of the run, and our own. */
  run: { id: string; shown: string }
  /** A run of another account, where other accounts can have the same number. */
  other?: string
  body: { ci_system: string; external_run_id: string }
  claims: Claims
}[] = [
  {
    provider: 'gitlab',
    repository: { host: 'gitlab.com', id: '46573356', full_name: 'acme/shop' },
    run: { id: '1519139981', shown: 'gl_run_1519139981' },
    body: { ci_system: 'gitlab-ci', external_run_id: '1519139981' },
    claims: { sha: COMMIT },
  },
  {
    provider: 'bitbucket',
    repository: { host: 'bitbucket.org', id: '8864cd24-449d-4441-8862-cf4fe8ad6caa', full_name: 'acme/shop' },
    run: { id: PIPELINE, shown: `bb_run_${PIPELINE}` },
    body: { ci_system: 'bitbucket-pipelines', external_run_id: PIPELINE },
    claims: {},
  },
  {
    provider: 'azure',
    repository: {
      host: 'dev.azure.com',
      id: '6f9c0ee2-3c35-4d7a-8f54-0a2f51d8c8b1',
      full_name: 'acme/web/shop',
    },
    run: { id: `${PROJECT}_5021`, shown: `az_run_${PROJECT}_5021` },
    other: `${OTHER_PROJECT}_5021`,
    body: { ci_system: 'azure-pipelines', external_run_id: '5021' },
    claims: { prj_id: PROJECT, run_id: '5021', rpo_ver: COMMIT },
  },
]

let api: TestApi
before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

for (const { provider, repository: named, run, other, body, claims } of HOSTS) {
  const repository = hostRepository({ provider, ...named })
  const state = (caller: TokenCaller) =>
    caller.send(
      'POST',
      '/v1/ci/runs',
      { ...body, repository: `${named.host}/${named.full_name}`, commit_sha: COMMIT, pipeline_name: 'build' },
      claims,
    )

  test(`a token of ${provider} is the run that the connected host has reported`, async () => {
    const caller = await startTokenCaller(api, { provider })
    try {
      const source = await insertConnection(api.services.sql, caller.orgId, repository)
      const report = (id: string) => {
        const commit = { sha: COMMIT, message: null }
        return applyRuns(api.services, source, hostRun({ repository, id, commit, head_repository_id: repository.id }))
      }
      if (other) await report(other)
      const early = await state(caller)
      assert.deepEqual([early.status, early.body.error?.code], [404, 'run_not_found'], early.text)
      await report(run.id)
      const stated = await state(caller)
      assert.equal(stated.status, 200, stated.text)
      const { id, trust, external_run_id, ci_system } = stated.body.data
      assert.deepEqual(
        [id, trust, external_run_id, ci_system],
        [run.shown, 'verified', ...Object.values(body).reverse()],
      )
    } finally {
      await caller.close()
    }
  })
}

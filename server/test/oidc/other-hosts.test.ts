import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { Actor } from '../../src/access/actor.ts'
import { readGithubJob } from '../../src/access/oidc-trusts/github-job.ts'
import { completeArtifacts } from '../../src/ci/reports/complete-artifacts.ts'
import { createReport } from '../../src/ci/reports/create-report.ts'
import { API_RULES } from '../../src/ci/reports/read-attestations.ts'
import { requireStoredRun } from '../../src/ci/runs/run.store.ts'
import { openRunIntake, type RunIntake } from '../../src/ci/runs/run-intake.ts'
import { requireTokenRun } from '../../src/ci/runs/token-run.ts'
import { ApiError } from '../../src/platform/http/api-error.ts'
import { createUuid } from '../../src/platform/ids.ts'
import { createUpload } from '../../src/security/uploads/create-upload.ts'
import { readArtifact } from '../../src/security/uploads/read-artifact.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { artifactOf, putArtifact } from '../support/ci-reports.ts'
import { hostRepository, hostRun, insertConnection } from '../support/host-objects.ts'
import type { Json } from '../support/json.ts'
import { githubClaims } from '../support/oidc-claims.ts'
import { applyRuns } from '../support/provider-runs.ts'
import { newRunClaims } from '../support/token-caller.ts'

/*
 * Every GitHub Enterprise Server numbers its repositories and runs from 1, and who operates one, or
 * an issuer of another kind, chooses the numbers. These tests give them the numbers of github.com.
 */

const GITHUB = 'https://token.actions.githubusercontent.com'
const SERVER = 'https://ghes.example/_services/token'
const STRANGER = 'https://issuer.example'

let api: TestApi
let caller: Caller
let intake: RunIntake

before(async () => {
  api = await startTestApi()
  intake = openRunIntake(api.services.sql)
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

/** The actor of a request with a token of an issuer, in the organization of `caller`. */
function actorOf(issuer: string, claims: ReturnType<typeof newRunClaims>): Actor {
  const { orgId, slug } = caller
  return {
    org_id: orgId,
    organization: { id: orgId, slug, name: slug, plan: 'enterprise' } as Actor['organization'],
    plan: api.services.plans.get('enterprise') as Actor['plan'],
    credential: {
      type: 'oidc_trust',
      id: createUuid(api.clock.now()),
      name: 'test trust',
      scopes: ['write:ci', 'write:security-findings'],
      job: readGithubJob({ ...githubClaims(), ...claims }, issuer, { trusted_events: [], self_hosted: false }),
    },
  }
}

const requireRun = (issuer: string, claims: ReturnType<typeof newRunClaims>) =>
  requireTokenRun(api.services, intake, actorOf(issuer, claims))

async function report(issuer: string, claims: ReturnType<typeof newRunClaims>, runId: string, files: object[] = []) {
  const input = {
    job: { name: 'test' },
    name: 'default',
    attestations: [],
    artifacts: files as never,
    rules: API_RULES,
  }
  return (await createReport(api.services, actorOf(issuer, claims), runId, input)).result
}

const isForbidden = (error: unknown) => error instanceof ApiError && error.status === 403

for (const issuer of [SERVER, STRANGER]) {
  test(`a token of ${issuer} says nothing about a run of github.com with the same numbers`, async () => {
    const claims = newRunClaims()
    const { run_id } = await requireRun(GITHUB, claims)
    assert.equal((await report(GITHUB, claims, run_id)).trust, 'verified')
    await assert.rejects(report(issuer, claims, run_id), isForbidden)
    const own = await requireRun(issuer, claims)
    assert.notEqual(own.run_id, run_id)
    assert.deepEqual(await requireRun(issuer, claims), own)
    assert.equal((await requireRun(GITHUB, claims)).run_id, run_id)
  })

  test(`a token of ${issuer} says nothing about a run that github.com has reported`, async () => {
    const repository = hostRepository({ id: '7770002' })
    const claims = newRunClaims({ repository_id: repository.id })
    const source = await insertConnection(api.services.sql, caller.orgId, repository)
    await applyRuns(api.services, source, hostRun({ id: claims.run_id, repository, head_repository_id: repository.id }))
    const runId = `gh_run_${claims.run_id}`
    assert.equal((await report(GITHUB, claims, runId)).trust, 'verified')
    await assert.rejects(report(issuer, claims, runId), isForbidden)
    const own = await requireRun(issuer, claims)
    assert.notEqual(own.run_id, runId)
    assert.equal(await linkedRepositoryOf(own.run_id), null)
  })

  test(`a token of ${issuer} uploads no report for a repository of github.com with the same id`, async () => {
    const repository = hostRepository({ id: '7770002' })
    await insertConnection(api.services.sql, caller.orgId, repository)
    const actor = actorOf(issuer, newRunClaims({ repository_id: repository.id }))
    await assert.rejects(createUpload(api.services, actor, newUpload('acme/shop')), isForbidden)
  })

  test(`a file that a token of ${issuer} reports is not read for a repository of github.com`, async () => {
    const repository = hostRepository({ id: '7770002' })
    await insertConnection(api.services.sql, caller.orgId, repository)
    const claims = newRunClaims({ repository_id: repository.id })
    const { run_id } = await requireRun(issuer, claims)
    const created = await report(issuer, claims, run_id, [artifactOf('a.sarif', '{}')])
    const [slot] = created.uploads
    await putArtifact(slot as never, '{}')
    await completeArtifacts(api.services, actorOf(issuer, claims), created, [slot?.artifact_id as string])
    await readArtifact(api.services, { org_id: caller.orgId, artifact_id: slot?.artifact_id as string })
    const stored = await api.services.sql<Json[]>`
      select repository.provider, repository.provider_id
      from security_uploads upload
      join reported_repositories repository
        on repository.org_id = upload.org_id and repository.id = upload.repository_no
      where upload.artifact_id = ${slot?.artifact_id as string}`
    assert.deepEqual([...stored], [{ provider: null, provider_id: null }])
  })
}

test('a token of a server is verified for the run that the server has reported', async () => {
  const repository = hostRepository({ host: 'ghes.example', id: '42' })
  const claims = newRunClaims({ repository_id: '42' })
  const source = await insertConnection(api.services.sql, caller.orgId, repository)
  await applyRuns(api.services, source, hostRun({ id: claims.run_id, repository, head_repository_id: '42' }))
  const { run_id } = await requireRun(SERVER, claims)
  assert.equal(run_id, `gh_run_${claims.run_id}`)
  assert.equal((await report(SERVER, claims, run_id)).trust, 'verified')
})

async function linkedRepositoryOf(runId: string) {
  const key = { org_id: caller.orgId, run_id: runId, attempt: 1 }
  return (await requireStoredRun(api.services.sql, key, api.clock.now())).linked_repository
}

function newUpload(repository: string) {
  return { repository, filename: 'a.sarif', size: 2, sha256: 'a'.repeat(64), format: 'auto' } as const
}

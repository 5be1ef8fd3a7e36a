import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { shiplock, temporaryDirectory } from './support/program.ts'
import { type Received, sendJson, startScriptedServer } from './support/scripted-server.ts'

const [OURS, OTHER] = ['a'.repeat(40), 'b'.repeat(40)]
const REPOSITORY = 'https://gitlab.example.com/acme/shop'
const RUN = { id: 'run_1', attempt: 2, provider: 'other', ci_system: 'gitlab-ci', external_run_id: '501', app_url: 'u' }
const OUR_RUN = { ...RUN, repository: 'gitlab.example.com/acme/shop', commit_sha: OURS }
const REPORT = { report_id: 'rep_1', run_id: 'run_1', url: 'u', uploads: [], skipped: [], warnings: [] }
const GATE = {
  gate_id: 'g',
  status: 'waiting',
  decision: 'pending',
  gate: { name: 'g' },
  environment: 'production',
  url: 'u',
  note: null,
}
const GITLAB = {
  GITLAB_CI: 'true',
  CI_SERVER_URL: 'https://gitlab.example.com',
  CI_PROJECT_URL: REPOSITORY,
  CI_PIPELINE_ID: '501',
  CI_COMMIT_SHA: OURS,
  CI_JOB_NAME: 'test',
  CI_JOB_ID: '9001',
  CI_JOB_RETRY_COUNT: '1',
}
const directory = temporaryDirectory()
writeFileSync(join(directory, 'junit.xml'), '<testsuite name="t"><testcase name="a"/></testsuite>')
const REPORTING = ['report', '--junit', 'junit.xml']
const OPENING = ['gate', 'open', '--environment', 'production']

type Answers = { run?: object; refuse?: (body: { attempt?: number }) => object | null }

/** Calls the program, with a server that knows a run. Returns what it sent, by path, and how it ended. */
async function call(args: string[], { run = OUR_RUN, refuse = () => null }: Answers = {}, env: object = {}) {
  const { url, received } = await startScriptedServer(({ method, path, body }, response) => {
    const refusal = path === '/v1/ci/runs' ? refuse(JSON.parse(body)) : null
    if (refusal !== null) return sendJson(response, 409, { error: refusal })
    if (method === 'PATCH') return sendJson(response, 200, { data: run })
    const data = path === '/v1/ci/runs' ? run : path === '/v1/ci/gates' ? GATE : REPORT
    sendJson(response, 201, { data })
  })
  const all = { ...GITLAB, SHIPLOCK_URL: url, SHIPLOCK_KEY: 'x', ...env }
  const ended = await shiplock(args, { env: all, cwd: directory })
  const sent = (path: string, at = -1) =>
    JSON.parse((received.filter((one: Received) => one.path === path).at(at) as Received).body)
  return { ...ended, sent, received }
}

test('a report names the server, the job, its execution and its tries, and what it expects', async () => {
  const { code, stderr, sent } = await call(REPORTING)
  assert.equal(code, 0, stderr)
  const run = sent('/v1/ci/runs')
  assert.deepEqual([run.ci_instance, run.continue, run.attempt], ['gitlab.example.com', undefined, undefined])
  const { job, expect, attempt } = sent('/v1/ci/runs/run_1/reports')
  assert.deepEqual([job.name, job.key, job.instance, job.retries, attempt], ['test', 'test', '9001', 1, 2])
  assert.deepEqual(expect, { repository: REPOSITORY, commit_sha: OURS })
})

test('a gate names its execution and what it expects, and continues a run that has ended', async () => {
  const { code, stderr, sent } = await call(OPENING)
  assert.equal(code, 0, stderr)
  assert.equal(sent('/v1/ci/runs').continue, true)
  const { job_instance, expect, attempt } = sent('/v1/ci/gates')
  assert.deepEqual([job_instance, attempt], ['9001', 2])
  assert.deepEqual(expect, { repository: REPOSITORY, commit_sha: OURS })
})

test('run start continues; an attempt that is named is sent alone', async () => {
  const named = (await call(['run', 'start', '--attempt', '3'])).sent('/v1/ci/runs')
  assert.deepEqual([named.attempt, named.continue], [3, undefined])
  assert.equal((await call(['run', 'start'])).sent('/v1/ci/runs').continue, true)
  const finished = await call(['run', 'finish', '--status', 'success'])
  assert.equal(finished.sent('/v1/ci/runs').continue, undefined)
})

test('where the CI counts no attempts, the newest one is meant', async () => {
  const refuse = ({ attempt }: { attempt?: number }) =>
    attempt === undefined ? { code: 'attempt_outdated', message: 'm', details: { newestAttempt: 2 } } : null
  const { code, stderr, sent } = await call(REPORTING, { refuse })
  assert.equal(code, 0, stderr)
  assert.equal(sent('/v1/ci/runs').attempt, 2)
})

test('with --run or SHIPLOCK_RUN, only what options give is expected', async () => {
  const none = await call([...REPORTING, '--run', 'run_1'])
  assert.equal(none.sent('/v1/ci/runs/run_1/reports').expect, undefined)
  const { sent } = await call([...OPENING, '--commit', OTHER], {}, { SHIPLOCK_RUN: 'run_1' })
  assert.deepEqual(sent('/v1/ci/gates').expect, { commit_sha: OTHER })
})

const ELSEWHERE = { ...OUR_RUN, repository: 'gitlab.example.org/zeta/pay', conflicts: ['repository'] }

test('1: a run of another repository stops the command, which names both; --adopt goes on', async () => {
  for (const args of [REPORTING, OPENING, ['run', 'start'], ['run', 'finish', '--status', 'success']]) {
    const { code, stderr, received } = await call(args, { run: ELSEWHERE })
    assert.equal(code, 1)
    assert.match(
      stderr,
      /repository is gitlab\.example\.org\/zeta\/pay, not https:\/\/gitlab\.example\.com\/acme\/shop/,
    )
    assert.match(stderr, /--ci-instance, or go on with --adopt/)
    assert.equal(received.length, 1)
  }
  const { code, sent } = await call([...REPORTING, '--adopt'], { run: ELSEWHERE })
  assert.equal(code, 0)
  const { expect } = sent('/v1/ci/runs/run_1/reports')
  assert.deepEqual(expect, { repository: ELSEWHERE.repository, commit_sha: OURS })
})

test('1: another commit stops the command, unless the CI names it as the head of what it merged', async () => {
  const run = { ...OUR_RUN, commit_sha: OTHER, conflicts: ['commit_sha'] }
  const { code, stderr } = await call(REPORTING, { run })
  assert.equal(code, 1)
  assert.match(stderr, new RegExp(`the commit is ${OTHER}, not ${OURS}`))
  const merged = await call(REPORTING, { run }, { CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: OTHER })
  assert.equal(merged.code, 0, merged.stderr)
  assert.equal(merged.sent('/v1/ci/runs/run_1/reports').expect.commit_sha, OTHER)
})

const GITHUB = {
  GITLAB_CI: '',
  GITHUB_ACTIONS: 'true',
  GITHUB_RUN_ID: '55',
  GITHUB_RUN_ATTEMPT: '1',
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_SHA: OURS,
  GITHUB_JOB: 'test',
  RUNNER_NAME: 'GitHub Actions 1',
}

function token(claims: object): string {
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.sig`
}

test('the execution of a job on GitHub: the claim, the variables, the runner, in this order', async () => {
  const instanceOf = async (env: object, ...more: string[]) =>
    (await call([...REPORTING, ...more], {}, { ...GITHUB, ...env })).sent('/v1/ci/runs/run_1/reports').job.instance
  const variables = { SHIPLOCK_JOB_INSTANCE: 'own', RUNNER_TRACKING_ID: 'github_a' }
  const withToken = { SHIPLOCK_KEY: '', SHIPLOCK_ID_TOKEN: token({ check_run_id: 101 }) }
  assert.equal(await instanceOf({ ...withToken, ...variables }), '101')
  assert.equal(await instanceOf({ ...withToken, SHIPLOCK_ID_TOKEN: token({ run_id: '55' }), ...variables }), 'own')
  assert.equal(await instanceOf({ RUNNER_TRACKING_ID: 'github_a' }), 'github_a')
  assert.equal(await instanceOf({}), 'GitHub Actions 1')
  assert.equal(await instanceOf(variables, '--job-instance', 'given'), 'given')
})

test('2: options that the API would not take', async () => {
  assert.equal((await call([...REPORTING, '--job-retries', 'x'])).code, 2)
  assert.equal((await call([...REPORTING, '--job-key', 'x'.repeat(201)])).code, 2)
})

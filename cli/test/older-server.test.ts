import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { shiplock, temporaryDirectory } from './support/program.ts'
import { type Received, sendJson, startScriptedServer } from './support/scripted-server.ts'

const COMMIT = 'a'.repeat(40)
const RUN = {
  id: 'run_1',
  attempt: 1,
  provider: 'other',
  repository: 'gitlab.example.com/acme/shop',
  commit_sha: COMMIT,
  app_url: 'u',
}
const REPORT = { report_id: 'rep_1', run_id: 'run_1', url: 'u', uploads: [], skipped: [], warnings: [] }
const GITLAB = {
  GITLAB_CI: 'true',
  CI_SERVER_URL: 'https://gitlab.example.com',
  CI_PROJECT_URL: 'https://gitlab.example.com/acme/shop',
  CI_PIPELINE_ID: '501',
  CI_COMMIT_SHA: COMMIT,
  CI_JOB_NAME: 'test',
  CI_JOB_ID: '9001',
  CI_JOB_RETRY_COUNT: '1',
}
const LATER = ['ci_instance', 'continue', 'expect', 'job_instance']
const LATER_OF_JOB = ['key', 'instance', 'retries']

const directory = temporaryDirectory()
writeFileSync(join(directory, 'junit.xml'), '<testsuite name="t"><testcase name="a"/></testsuite>')

/** A server that refuses the first field that it does not know, as earlier ones do. */
async function startOlderServer(known: string[] = []) {
  const { url, received } = await startScriptedServer(({ path, body }, response) => {
    if (path === '/v1/openapi.json') return sendJson(response, 200, { info: { version: '1.0.0' } })
    const given = JSON.parse(body)
    const job = typeof given.job === 'object' ? given.job : {}
    const unknown = [
      ...LATER.filter((name) => name in given),
      ...LATER_OF_JOB.filter((name) => name in job).map((name) => `job/${name}`),
    ].find((name) => !known.includes(name))
    if (unknown !== undefined) {
      const message = `/body/${unknown}: is not a field of this request`
      return sendJson(response, 400, { error: { code: 'invalid_request', message, details: {} } })
    }
    sendJson(response, 201, { data: path.endsWith('/reports') ? REPORT : RUN })
  })
  return { url, received }
}

/** The last request to a path, as it was accepted. */
function lastBody(received: Received[], path: string) {
  return JSON.parse(received.filter((one) => one.path === path).at(-1)?.body ?? assert.fail(path))
}

const NOTICE =
  /shiplock: The server at http:\S+ states version 1\.0\.0 and does not know all that shiplock \S+ says about servers, jobs and tries/g

test('an older server gets what it knows, and the command says so once, with the version of the server', async () => {
  const { url, received } = await startOlderServer()
  const env = { ...GITLAB, SHIPLOCK_URL: url, SHIPLOCK_KEY: 'x' }
  const { code, stderr } = await shiplock(['report', '--junit', 'junit.xml'], { env, cwd: directory })
  assert.equal(code, 0, stderr)
  assert.equal(stderr.match(NOTICE)?.length, 1, stderr)
  const run = lastBody(received, '/v1/ci/runs')
  assert.deepEqual(
    LATER.filter((name) => name in run),
    [],
  )
  const report = lastBody(received, '/v1/ci/runs/run_1/reports')
  assert.deepEqual(report.job.name, 'test')
  assert.deepEqual(
    [...LATER, ...LATER_OF_JOB].filter((name) => name in report || name in report.job),
    [],
  )
})

test('a server that lacks one field gets the others', async () => {
  const { url, received } = await startOlderServer(['ci_instance', 'expect', 'job/key', 'job/instance', 'job/retries'])
  const env = { ...GITLAB, SHIPLOCK_URL: url, SHIPLOCK_KEY: 'x' }
  const { code, stderr } = await shiplock(['run', 'start'], { env })
  assert.equal(code, 0, stderr)
  assert.equal(stderr.match(NOTICE)?.length, 1)
  const { ci_instance, continue: continued } = lastBody(received, '/v1/ci/runs')
  assert.deepEqual([ci_instance, continued], ['gitlab.example.com', undefined])
})

test('a gate on a server that knows no time limit of gates is opened without it, and the command says what that means', async () => {
  const opened = { id: 'gate_1', status: 'approved', decision: 'approved', deployment_id: 'dep_1' }
  const { url, received } = await startScriptedServer(({ path, body }, response) => {
    if (path === '/v1/openapi.json') return sendJson(response, 200, { info: { version: '1.0.0' } })
    if (path !== '/v1/ci/gates' || !('timeout_minutes' in JSON.parse(body)))
      return sendJson(response, 201, { data: path === '/v1/ci/gates' ? opened : RUN })
    const message = '/body/timeout_minutes: is not a field of this request'
    sendJson(response, 400, { error: { code: 'invalid_request', message, details: {} } })
  })
  const env = { ...GITLAB, SHIPLOCK_URL: url, SHIPLOCK_KEY: 'x' }
  const args = ['gate', 'open', '--environment', 'production', '--timeout-minutes', '30']
  const { code, stderr, stdout } = await shiplock(args, { env })
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^approved/)
  assert.match(stderr, /states version 1\.0\.0 and does not know --timeout-minutes of a gate/)
  const gates = received
    .filter(({ path }) => path === '/v1/ci/gates')
    .map(({ body }) => JSON.parse(body).timeout_minutes)
  assert.deepEqual(gates, [30, undefined])
  const { stderr: silent } = await shiplock(args.slice(0, 4), { env })
  assert.equal(silent.includes('timeout'), false, silent)
})

test('another refusal of a later field is an error', async () => {
  const { url } = await startScriptedServer((_received, response) => {
    const message = '/body/ci_instance: must match the pattern'
    sendJson(response, 400, { error: { code: 'invalid_request', message, details: {} } })
  })
  const env = { ...GITLAB, SHIPLOCK_URL: url, SHIPLOCK_KEY: 'x' }
  const { code, stderr } = await shiplock(['run', 'start'], { env })
  assert.equal(code, 1)
  assert.match(stderr, /^shiplock: --ci-instance must match the pattern/)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutCredentials } from '../src/ci/git.ts'
import { makeGitRepository } from './support/git-repository.ts'
import { shiplock } from './support/program.ts'
import { startServer } from './support/server.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'
const { env } = await startServer()
const GITHUB = {
  ...env,
  GITHUB_ACTIONS: 'true',
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_SHA: COMMIT,
  GITHUB_REF: 'refs/heads/main',
  GITHUB_WORKFLOW: 'CI',
  GITHUB_JOB: 'test',
  GITHUB_ACTOR: 'ada',
  GITHUB_EVENT_NAME: 'push',
  GITHUB_RUN_ATTEMPT: '1',
}

test('run start, 0: in a CI, the run is that of the job, and a repetition is the same run', async () => {
  const job = { ...GITHUB, GITHUB_RUN_ID: '1001' }
  const { code, json, stderr } = await shiplock(['run', 'start', '--json'], { env: job })
  assert.equal(code, 0, stderr)
  const { id, ...run } = json
  assert.equal(run.ci_system, 'github-actions')
  assert.equal(run.ci_system_name, 'GitHub Actions')
  assert.equal(run.external_run_id, '1001')
  assert.equal(run.repository, 'github.com/acme/shop')
  assert.equal(run.commit_sha, COMMIT)
  assert.equal(run.ref, 'refs/heads/main')
  assert.equal(run.pipeline_name, 'CI')
  assert.equal(run.actor, 'ada')
  assert.equal(run.event, 'push')
  assert.equal(run.url, 'https://github.com/acme/shop/actions/runs/1001')
  assert.equal(run.status, 'in_progress')
  const again = await shiplock(['run', 'start'], { env: job })
  assert.equal(again.stdout, `${id}\n`)
  const retried = await shiplock(['run', 'start', '--json'], { env: { ...job, GITHUB_RUN_ATTEMPT: '2' } })
  assert.equal(retried.json.id, id)
  assert.equal(retried.json.attempt, 2)
})

test('run finish, 0: in a CI, it ends the run of the job; twice changes nothing; another status is 1', async () => {
  const job = { ...GITHUB, GITHUB_RUN_ID: '1002' }
  await shiplock(['run', 'start'], { env: job })
  const finished = await shiplock(['run', 'finish', '--status', 'success', '--json'], { env: job })
  assert.equal(finished.code, 0, finished.stderr)
  assert.equal(finished.json.status, 'success')
  assert.equal((await shiplock(['run', 'finish', '--status', 'success'], { env: job })).code, 0)
  const other = await shiplock(['run', 'finish', '--status', 'failure'], { env: job })
  assert.equal(other.code, 1)
  assert.match(
    other.stderr,
    /^shiplock: The attempt has finished with the status success.*\(409 run_finished, request /,
  )
})

test('run start, 0: elsewhere, the commit, branch and repository are those of git', async () => {
  const { directory, commit } = makeGitRepository('https://token@git.example.com/acme/shop.git')
  const { code, json, stderr } = await shiplock(['run', 'start', '--json'], { env, cwd: directory })
  assert.equal(code, 0, stderr)
  assert.equal(json.repository, 'git.example.com/acme/shop')
  assert.equal(json.commit_sha, commit)
  assert.equal(json.ref, 'trunk')
  assert.equal(json.pipeline_name, 'shop')
  assert.equal(json.ci_system, 'shell')
  assert.doesNotMatch(stderr, /token/)
  const another = await shiplock(['run', 'start', '--json'], { env, cwd: directory })
  assert.notEqual(another.json.id, json.id)
  const byId = await shiplock(['run', 'finish', '--status', 'skipped', '--run', json.id, '--json'], { env })
  assert.equal(byId.json.status, 'skipped')
  const byVariable = await shiplock(['run', 'finish', '--status', 'failure'], {
    env: { ...env, SHIPLOCK_RUN: another.json.id },
  })
  assert.equal(byVariable.stdout, `${another.json.id} failure\n`)
})

test('an address of git is sent without its password', () => {
  const addresses: [given: string, sent: string][] = [
    ['https://user:pa@ss@git.example.com/acme/shop', 'https://git.example.com/acme/shop'],
    ['https://git.example.com/acme/shop@1', 'https://git.example.com/acme/shop@1'],
    ['ssh://git:secret@git.example.com:22/acme/shop', 'ssh://git@git.example.com:22/acme/shop'],
    ['ssh://git@git.example.com:22/acme/shop', 'ssh://git@git.example.com:22/acme/shop'],
    ['git@git.example.com:acme/shop.git', 'git@git.example.com:acme/shop.git'],
  ]
  for (const [given, sent] of addresses) assert.equal(withoutCredentials(given), sent)
})

test('run start, 0: options stand above the CI', async () => {
  const args = [
    '--external-run-id',
    'x/1',
    '--ci-system',
    'concourse',
    '--attempt',
    '3',
    '--event',
    'manual',
    '--actor',
    'bob',
  ]
  const more = [
    '--repository',
    'git@gitlab.com:acme/api.git',
    '--commit',
    'f'.repeat(40),
    '--ref',
    'refs/tags/v1',
    '--pipeline',
    'P',
  ]
  const last = ['--run-url', 'https://ci.example.com/1', '--timeout-minutes', '5', '--queued', '--json']
  const { code, json, stderr } = await shiplock(['run', 'start', ...args, ...more, ...last], {
    env: { ...GITHUB, GITHUB_RUN_ID: '1' },
  })
  assert.equal(code, 0, stderr)
  assert.equal(json.external_run_id, 'x/1')
  assert.equal(json.ci_system, 'concourse')
  assert.equal(json.attempt, 3)
  assert.equal(json.event, 'manual')
  assert.equal(json.actor, 'bob')
  assert.equal(json.repository, 'gitlab.com/acme/api')
  assert.equal(json.commit_sha, 'f'.repeat(40))
  assert.equal(json.ref, 'refs/tags/v1')
  assert.equal(json.pipeline_name, 'P')
  assert.equal(json.url, 'https://ci.example.com/1')
  assert.equal(json.status, 'queued')
})

const WRONG: [what: string, args: string[], message: RegExp][] = [
  ['no repository', ['run', 'start'], /Give the repository with --repository/],
  ['no commit', ['run', 'start', '--repository', 'github.com/acme/shop'], /Give the commit with --commit/],
  [
    'an attempt that is no number',
    ['run', 'start', '--attempt', 'x', '--repository', 'a', '--commit', 'b'],
    /--attempt must be an integer from 1 to 999, not "x"/,
  ],
  ['an unknown event', ['run', 'start', '--event', 'x'], /--event must be one of push, /],
  ['no status', ['run', 'finish'], /Give the final status with --status/],
  ['a status that is not final', ['run', 'finish', '--status', 'queued'], /--status must be one of success, /],
  ['no run', ['run', 'finish', '--status', 'success'], /There is no run: name it with --run ID/],
  ['an empty value', ['run', 'finish', '--status', 'success', '--run', ''], /--run must have a value/],
  ['an argument', ['run', 'start', 'now'], /Unexpected argument "now"/],
  ['a group without a command', ['run'], /run must be followed by one of start, finish, exec/],
  ['an unknown command of a group', ['run', 'stop'], /run must be followed by one of/],
  ['no command to run', ['run', 'exec'], /Give a COMMAND after --/],
]

for (const [what, args, message] of WRONG) {
  test(`2: ${what}`, async () => {
    const { code, stdout, stderr } = await shiplock(args, { env })
    assert.equal(code, 2, stderr)
    assert.equal(stdout, '')
    assert.match(stderr, message)
    assert.match(stderr, /^shiplock: .*; see shiplock run.* --help\n$/)
  })
}

const SOURCE = ['--repository', 'github.com/acme/shop', '--commit', COMMIT]
const REFUSED: [what: string, args: string[], message: RegExp][] = [
  [
    'a repository',
    ['run', 'start', '--repository', 'acme/shop', '--commit', COMMIT],
    /--repository must have the form/,
  ],
  ['a commit', ['run', 'start', '--repository', 'github.com/acme/shop', '--commit', 'abc'], /--commit is not valid\./],
  ['a URL', ['run', 'start', ...SOURCE, '--run-url', 'x'], /--run-url is not valid\./],
  ['a run', ['run', 'finish', '--status', 'success', '--run', 'a/b'], /--run is not valid\./],
  ['an id', ['approve', 'a/b', '--reason', 'It was checked on staging.'], /ID is not valid\./],
  ['a filter', ['changes', '--commit', 'abc'], /--commit is not valid\./],
]

for (const [what, args, message] of REFUSED) {
  test(`2: ${what} that the API refuses, by the name of the option`, async () => {
    const { code, stdout, stderr } = await shiplock(args, { env })
    assert.equal(code, 2, stderr)
    assert.equal(stdout, '')
    assert.match(stderr, message)
    assert.match(stderr, /^shiplock: [^\n]* \(400 invalid_request, request [^\n]*\); see shiplock [^\n]* --help\n$/)
  })
}

test('1: a value of the CI that the API refuses', async () => {
  const { code, stderr } = await shiplock(['run', 'start'], {
    env: { ...GITHUB, GITHUB_RUN_ID: '1003', GITHUB_REPOSITORY: 'shop' },
  })
  assert.equal(code, 1, stderr)
  assert.match(stderr, /^shiplock: --repository [^\n]*\n$/)
})

test('2: no server, and no credential', async () => {
  const args = ['run', 'start', '--repository', 'github.com/acme/shop', '--commit', COMMIT]
  assert.match((await shiplock(args)).stderr, /There is no server: give its address with --url or SHIPLOCK_URL/)
  const { code, stderr } = await shiplock([...args, '--url', 'https://shiplock.example.com/'])
  assert.equal(code, 2)
  assert.match(
    stderr,
    /There is no credential: set SHIPLOCK_KEY, or run shiplock login --url https:\/\/shiplock.example.com;/,
  )
  assert.match((await shiplock([...args, '--url', 'ftp://x'])).stderr, /must be an http or https URL/)
})

test('1: a refused key, in one line', async () => {
  const args = ['run', 'start', '--repository', 'github.com/acme/shop', '--commit', COMMIT]
  const { code, stdout, stderr } = await shiplock(args, { env: { ...env, SHIPLOCK_KEY: 'shl_live_wrong' } })
  assert.equal(code, 1)
  assert.equal(stdout, '')
  assert.match(
    stderr,
    /^shiplock: The server rejects the credential: it is missing or not valid. \(401 unauthorized[^\n]*\)\n$/,
  )
})

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { configureGate } from '../../server/test/support/gates.ts'
import { apply } from '../../server/test/support/policies.ts'
import { drainQueue } from '../../server/test/support/queue.ts'
import { startTokenCaller } from '../../server/test/support/token-caller.ts'
import type { CiJob } from '../src/ci/ci-job.ts'
import { detectCi } from '../src/ci/detect-ci.ts'
import { shiplock, temporaryDirectory } from './support/program.ts'
import { startServer } from './support/server.ts'

type Env = Record<string, string>
type Told = Pick<CiJob, 'ci_system' | 'external_run_id' | 'ci_instance' | 'job_key' | 'job_instance' | 'job_retries'>

const directory = temporaryDirectory()
const { api } = await startServer()

function identify(env: Env): Told {
  const job = detectCi(env, directory)
  assert.ok(job !== null, JSON.stringify(env))
  const { ci_system, external_run_id, ci_instance, job_key, job_instance, job_retries } = job
  return { ci_system, external_run_id, ci_instance, job_key, job_instance, job_retries }
}

/** The environment with other variables; those that are empty are removed. */
function having(env: Env, changes: Env): Env {
  return Object.fromEntries(Object.entries({ ...env, ...changes }).filter(([, value]) => value !== ''))
}

const properties = join(directory, 'build.properties')
writeFileSync(properties, 'teamcity.build.id=8811\nteamcity.serverUrl=https\\://Teamcity.example.com/tc/\n')

type System = {
  name: string
  /** The first try of a job. */
  env: Env
  told: Partial<Told>
  /** What differs when the CI tries the job again. */
  retry: Env
  /** What the CI tells of the retry: what is not named is as before. */
  retried: Partial<Told>
  /** What differs in another job of the run with an equal name. */
  sibling: Env
  /** What differs on another server, with the same numbers. */
  server: Env
}

/** ci-evidence §7. A variable that is documented nowhere is absent. */
const SYSTEMS: System[] = [
  {
    name: 'GitHub Actions',
    env: {
      GITHUB_ACTIONS: 'true',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: 'acme/shop',
      GITHUB_RUN_ID: '55',
      GITHUB_RUN_ATTEMPT: '1',
      GITHUB_JOB: 'test',
      RUNNER_NAME: 'GitHub Actions 1',
      RUNNER_TRACKING_ID: 'github_a',
    },
    told: { ci_system: 'github-actions', ci_instance: 'github.com', job_key: null, job_instance: 'github_a' },
    retry: { GITHUB_RUN_ATTEMPT: '2', RUNNER_TRACKING_ID: 'github_b' },
    retried: { job_instance: 'github_b' },
    sibling: { RUNNER_TRACKING_ID: 'github_c' },
    server: { GITHUB_SERVER_URL: 'https://GHES.example.com:8443/' },
  },
  {
    name: 'Gitea Actions',
    env: {
      GITHUB_ACTIONS: 'true',
      GITEA_ACTIONS: 'true',
      GITHUB_SERVER_URL: 'https://gitea.example.com',
      GITHUB_RUN_ID: '88',
      RUNNER_NAME: 'a',
    },
    told: { ci_system: 'gitea-actions', ci_instance: 'gitea.example.com', job_instance: null },
    retry: {},
    retried: {},
    sibling: {},
    server: { GITHUB_SERVER_URL: 'https://git.example.org' },
  },
  {
    name: 'GitLab',
    env: {
      GITLAB_CI: 'true',
      CI_SERVER_URL: 'https://gitlab.example.com:8443',
      CI_PIPELINE_ID: '501',
      CI_JOB_NAME: 'test 1/2',
      CI_JOB_ID: '9001',
      CI_JOB_RETRY_COUNT: '0',
    },
    told: { ci_instance: 'gitlab.example.com:8443', job_key: 'test 1/2', job_instance: '9001', job_retries: 0 },
    retry: { CI_JOB_ID: '9002', CI_JOB_RETRY_COUNT: '1' },
    retried: { job_instance: '9002', job_retries: 1 },
    sibling: { CI_JOB_NAME: 'test 2/2', CI_JOB_ID: '9003' },
    server: { CI_SERVER_URL: 'https://gitlab.com:443' },
  },
  {
    name: 'Jenkins',
    env: {
      JENKINS_URL: 'https://Ci.example.com/jenkins/',
      JOB_NAME: 'mx',
      BUILD_NUMBER: '9',
      STAGE_NAME: 'Test',
      OS: 'linux',
    },
    told: { external_run_id: 'mx/9', ci_instance: 'ci.example.com/jenkins', job_key: null },
    // `retry { }` repeats a part of the same stage.
    retry: {},
    retried: {},
    sibling: { OS: 'windows' },
    server: { JENKINS_URL: 'https://ci.example.com/' },
  },
  {
    name: 'Azure Pipelines',
    env: {
      TF_BUILD: 'True',
      BUILD_BUILDID: '42',
      SYSTEM_COLLECTIONID: '0CA3DDD9-F0B0-4635-A98C-5866526961B6',
      SYSTEM_STAGENAME: 'Build',
      SYSTEM_PHASENAME: 'unit',
      SYSTEM_JOBNAME: '__default',
      SYSTEM_JOBID: 'j-1',
      SYSTEM_STAGEATTEMPT: '1',
      SYSTEM_PHASEATTEMPT: '1',
      SYSTEM_JOBATTEMPT: '1',
    },
    told: {
      ci_instance: '0ca3ddd9-f0b0-4635-a98c-5866526961b6',
      job_key: 'Build/unit/__default',
      job_instance: 'j-1',
      job_retries: 0,
    },
    retry: { SYSTEM_STAGEATTEMPT: '2', SYSTEM_JOBATTEMPT: '2' },
    retried: { job_retries: 2 },
    sibling: { SYSTEM_PHASENAME: 'integration', SYSTEM_JOBID: 'j-2' },
    server: { SYSTEM_COLLECTIONID: '1ca3ddd9-f0b0-4635-a98c-5866526961b6' },
  },
  {
    name: 'Bitbucket Pipelines',
    env: {
      BITBUCKET_BUILD_NUMBER: '31',
      BITBUCKET_PIPELINE_UUID: '{f1d2d2f9-24e9-4c5a-b0d3-000000000001}',
      BITBUCKET_REPO_UUID: '{8864CD24-449d-4441-8862-cf4fe8ad6caa}',
      BITBUCKET_REPO_FULL_NAME: 'acme/shop',
      BITBUCKET_STEP_UUID: '{s-1}',
      BITBUCKET_STEP_RUN_NUMBER: '1',
    },
    told: { ci_instance: '8864cd24-449d-4441-8862-cf4fe8ad6caa', job_key: null, job_instance: 's-1', job_retries: 0 },
    retry: { BITBUCKET_STEP_RUN_NUMBER: '2' },
    retried: { job_retries: 1 },
    sibling: { BITBUCKET_STEP_UUID: '{s-2}' },
    server: { BITBUCKET_REPO_UUID: '{9864cd24-449d-4441-8862-cf4fe8ad6caa}' },
  },
  {
    name: 'Buildkite',
    env: {
      BUILDKITE: 'true',
      BUILDKITE_BUILD_ID: 'bk-1',
      BUILDKITE_ORGANIZATION_SLUG: 'acme',
      BUILDKITE_STEP_ID: 'step-1',
      BUILDKITE_PARALLEL_JOB: '0',
      BUILDKITE_JOB_ID: 'j1',
      BUILDKITE_RETRY_COUNT: '0',
    },
    told: { ci_instance: 'acme', job_key: 'step-1/0', job_instance: 'j1', job_retries: 0 },
    retry: { BUILDKITE_JOB_ID: 'j2', BUILDKITE_RETRY_COUNT: '1' },
    retried: { job_instance: 'j2', job_retries: 1 },
    sibling: { BUILDKITE_PARALLEL_JOB: '1', BUILDKITE_JOB_ID: 'j3' },
    server: { BUILDKITE_ORGANIZATION_SLUG: 'zeta' },
  },
  {
    name: 'Buildkite, a matrix',
    env: {
      BUILDKITE: 'true',
      BUILDKITE_BUILD_ID: 'bk-1',
      BUILDKITE_STEP_ID: 's',
      BUILDKITE_COMMAND: 'make linux',
      BUILDKITE_JOB_ID: 'j1',
    },
    told: { job_instance: 'j1' },
    retry: { BUILDKITE_JOB_ID: 'j2' },
    retried: { job_instance: 'j2' },
    sibling: { BUILDKITE_COMMAND: 'make windows', BUILDKITE_JOB_ID: 'j3' },
    server: { BUILDKITE_ORGANIZATION_SLUG: 'zeta' },
  },
  {
    name: 'CircleCI',
    env: {
      CIRCLECI: 'true',
      CIRCLE_WORKFLOW_ID: 'w-1',
      CIRCLE_ORGANIZATION_ID: 'org-1',
      CIRCLE_JOB: 'test',
      CIRCLE_NODE_INDEX: '0',
      CIRCLE_WORKFLOW_JOB_ID: 'job-1',
    },
    told: { external_run_id: 'w-1', ci_instance: 'org-1', job_key: 'test/0', job_instance: 'job-1', job_retries: null },
    retry: { CIRCLE_WORKFLOW_ID: 'w-2', CIRCLE_WORKFLOW_JOB_ID: 'job-2' },
    retried: { external_run_id: 'w-2', job_instance: 'job-2' },
    sibling: { CIRCLE_NODE_INDEX: '1', CIRCLE_WORKFLOW_JOB_ID: 'job-3' },
    server: { CIRCLE_ORGANIZATION_ID: 'org-2' },
  },
  {
    name: 'Travis CI',
    env: {
      TRAVIS: 'true',
      TRAVIS_BUILD_ID: '7',
      TRAVIS_BUILD_WEB_URL: 'https://app.travis-ci.com/acme/shop/builds/7',
      TRAVIS_JOB_NUMBER: '7.1',
      TRAVIS_JOB_ID: '1',
    },
    told: { ci_instance: 'app.travis-ci.com', job_key: '7.1', job_instance: '1' },
    retry: {},
    retried: {},
    sibling: { TRAVIS_JOB_NUMBER: '7.2', TRAVIS_JOB_ID: '2' },
    server: { TRAVIS_BUILD_WEB_URL: 'https://travis.example.com/acme/shop/builds/7' },
  },
  {
    name: 'TeamCity',
    env: { TEAMCITY_VERSION: '2025.07', TEAMCITY_BUILD_PROPERTIES_FILE: properties, BUILD_NUMBER: '12' },
    told: { external_run_id: '8811', ci_instance: 'teamcity.example.com/tc', job_key: null, job_instance: '8811' },
    retry: {},
    retried: {},
    sibling: {},
    server: { TEAMCITY_BUILD_PROPERTIES_FILE: '', BUILD_URL: 'https://other.example.com/build/12' },
  },
  {
    name: 'Harness',
    env: {
      DRONE: 'true',
      HARNESS_BUILD_ID: '12',
      HARNESS_ACCOUNT_ID: 'a',
      HARNESS_ORG_ID: 'default',
      HARNESS_PROJECT_ID: 'shop',
      HARNESS_PIPELINE_ID: 'build',
      HARNESS_STAGE_ID: 'unit',
      HARNESS_STEP_ID: 'report',
      HARNESS_EXECUTION_ID: 'e-1',
    },
    told: {
      ci_system: 'harness',
      external_run_id: '12',
      ci_instance: 'a/default/shop/build',
      job_key: 'unit/report',
      job_instance: 'e-1',
    },
    retry: {},
    retried: {},
    sibling: { HARNESS_STAGE_ID: 'integration' },
    server: { HARNESS_PIPELINE_ID: 'deploy' },
  },
  {
    name: 'Semaphore',
    env: {
      SEMAPHORE: 'true',
      SEMAPHORE_ORGANIZATION_URL: 'https://acme.semaphoreci.com',
      SEMAPHORE_WORKFLOW_ID: 'wf-1',
      SEMAPHORE_JOB_NAME: 'Test - 1/2',
      SEMAPHORE_JOB_ID: 'j-1',
    },
    told: { external_run_id: 'wf-1', ci_instance: 'acme.semaphoreci.com', job_key: 'Test - 1/2', job_instance: 'j-1' },
    retry: { SEMAPHORE_WORKFLOW_ID: 'wf-2', SEMAPHORE_JOB_ID: 'j-2' },
    retried: { external_run_id: 'wf-2', job_instance: 'j-2' },
    sibling: { SEMAPHORE_JOB_NAME: 'Test - 2/2', SEMAPHORE_JOB_ID: 'j-3' },
    server: { SEMAPHORE_ORGANIZATION_URL: 'https://zeta.semaphoreci.com' },
  },
  {
    name: 'Drone',
    env: {
      DRONE: 'true',
      DRONE_SYSTEM_HOST: 'Drone.example.com',
      DRONE_REPO: 'acme/shop',
      DRONE_BUILD_NUMBER: '9',
      DRONE_STAGE_NAME: 'linux',
      DRONE_STEP_NAME: 'test',
    },
    told: { external_run_id: 'acme/shop/9', ci_instance: 'drone.example.com/acme/shop', job_key: 'linux/test' },
    retry: { DRONE_BUILD_NUMBER: '10' },
    retried: { external_run_id: 'acme/shop/10' },
    sibling: { DRONE_STAGE_NAME: 'windows' },
    server: { DRONE_SYSTEM_HOST: 'drone.example.org' },
  },
  {
    name: 'Woodpecker',
    env: {
      CI: 'woodpecker',
      CI_SYSTEM_HOST: 'ci.example.com',
      CI_REPO_OWNER: 'acme',
      CI_REPO_NAME: 'shop',
      CI_PIPELINE_NUMBER: '9',
      CI_WORKFLOW_NAME: 'linux',
      CI_STEP_NAME: 'test',
    },
    told: { external_run_id: 'acme/shop/9', ci_instance: 'ci.example.com/acme/shop', job_key: 'linux/test' },
    retry: { CI_PIPELINE_NUMBER: '10' },
    retried: { external_run_id: 'acme/shop/10' },
    sibling: { CI_WORKFLOW_NAME: 'windows' },
    server: { CI_SYSTEM_HOST: 'ci.example.org' },
  },
  {
    name: 'CodeBuild',
    env: {
      CODEBUILD_BUILD_ID: 'shop:1',
      CODEBUILD_BUILD_ARN: 'arn:aws:codebuild:eu-west-1:123456789012:build/shop:1',
      CODEBUILD_BATCH_BUILD_IDENTIFIER: 'unit',
    },
    told: { external_run_id: 'shop:1', ci_instance: 'eu-west-1/123456789012', job_key: 'unit', job_instance: 'shop:1' },
    retry: { CODEBUILD_BUILD_ID: 'shop:2' },
    retried: { external_run_id: 'shop:2', job_instance: 'shop:2' },
    sibling: { CODEBUILD_BATCH_BUILD_IDENTIFIER: 'integration' },
    server: { CODEBUILD_BUILD_ARN: 'arn:aws:codebuild:eu-west-1:210987654321:build/shop:1' },
  },
]

for (const { name, env, told, retry, retried, sibling, server } of SYSTEMS) {
  const first = () => identify(env)

  test(`${name}: what a first try says`, () => assert.deepEqual({ ...first(), ...told }, first()))

  test(`${name}: another try says what its system keeps`, () => {
    assert.deepEqual(identify(having(env, retry)), { ...first(), ...retried })
  })

  test(`${name}: two servers with one number are told apart`, () => {
    const [here, there] = [first(), identify(having(env, server))]
    assert.notEqual(here.ci_instance, there.ci_instance)
    assert.ok(there.ci_instance)
  })

  // TeamCity has one job in a run, Gitea tells nothing apart.
  if (Object.keys(sibling).length === 0) continue
  test(`${name}: two jobs of one name are told apart`, () => {
    const [one, other] = [first(), identify(having(env, sibling))]
    assert.equal(one.external_run_id, other.external_run_id)
    assert.notDeepEqual(
      [one.job_key, one.job_key ?? one.job_instance],
      [other.job_key, other.job_key ?? other.job_instance],
    )
  })
}

test('Jenkins: paths, secrets and what the shell sets do not change the job; every axis does', () => {
  const env = { JENKINS_URL: 'https://ci.example.com/', JOB_NAME: 'mx', BUILD_NUMBER: '9', NODE_NAME: 'a' }
  const of = (changes: Env) => identify({ ...env, ...changes }).job_instance
  const same = {
    JAVA_HOME: '/opt/a',
    API_TOKEN: 'x',
    NEXUS_PSW: 'x',
    SHLVL: '2',
    _: 'x',
    OLDPWD: 'x',
    npm_command: 'x',
    CLASSES: '/x',
  }
  for (const [name, value] of Object.entries(same)) assert.equal(of({ [name]: value }), of({}), name)
  const axes = {
    OS: 'linux',
    NODE_VERSION: '24',
    PROFILE: 'debug',
    WORKSPACE: '/w@2',
    STAGE_NAME: 'Test',
    EXECUTOR_NUMBER: '1',
  }
  for (const [name, value] of Object.entries(axes)) assert.notEqual(of({ [name]: value }), of({}), name)
})

test('names of jobs become what the CI has only where they were `default`', () => {
  const jobOf = (env: Env) => detectCi(env, directory)?.job
  const jenkins = { JENKINS_URL: 'https://ci.example.com/', BUILD_NUMBER: '9' }
  assert.equal(jobOf({ ...jenkins, JOB_NAME: 'shop/ARCH=arm,OS=linux' }), 'ARCH=arm,OS=linux')
  assert.equal(jobOf({ ...jenkins, JOB_NAME: 'shop/OS=linux', STAGE_NAME: 'Test' }), 'Test')
  assert.equal(jobOf({ ...jenkins, JOB_NAME: 'shop' }), null)
  const travis = { TRAVIS: 'true', TRAVIS_BUILD_ID: '7', TRAVIS_JOB_NUMBER: '7.1' }
  assert.equal(jobOf(travis), '7.1')
  assert.equal(jobOf({ ...travis, TRAVIS_JOB_NAME: 'unit' }), 'unit')
  const bitbucket = { BITBUCKET_PIPELINE_UUID: '{p}', BITBUCKET_STEP_UUID: '{s}' }
  assert.equal(jobOf(bitbucket), 'step')
  assert.equal(jobOf({ ...bitbucket, BITBUCKET_PARALLEL_STEP: '1' }), 'step 1')
})

test('the head is named beside the merge commit where the CI tells both', () => {
  const [merge, head] = ['a'.repeat(40), 'b'.repeat(40)]
  const event = join(directory, 'event.json')
  writeFileSync(event, JSON.stringify({ pull_request: { head: { sha: head } } }))
  const env = { GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '5', GITHUB_SHA: merge, GITHUB_EVENT_PATH: event }
  const { commit_sha, head_sha } = detectCi(env, directory) as CiJob
  assert.deepEqual([commit_sha, head_sha], [merge, head])
})

const FIXTURE = new URL('./fixtures/ci-environments.json', import.meta.url)
const ENVIRONMENTS = JSON.parse(readFileSync(FIXTURE, 'utf8'))

for (const { system, common, first, second } of ENVIRONMENTS.same_run_two_jobs.pairs) {
  // What only the token tells is for the server.
  if (first.token) continue
  test(`one run, two jobs: ${system}`, () => {
    const [one, other] = [identify({ ...common, ...first }), identify({ ...common, ...second })]
    assert.equal(one.external_run_id, other.external_run_id)
    assert.notEqual(one.job_key ?? one.job_instance, other.job_key ?? other.job_instance)
  })
}

for (const { system, first, second } of ENVIRONMENTS.two_servers_one_number.pairs) {
  test(`two servers, one number: ${system}`, () => {
    const [one, other] = [identify(first), identify(second)]
    assert.equal(one.external_run_id, other.external_run_id)
    assert.notDeepEqual([one.ci_system, one.ci_instance], [other.ci_system, other.ci_instance])
    assert.ok(one.ci_instance && other.ci_instance)
  })
}

const JUNIT = { failed: '<testsuite name="s"><testcase name="a"><failure/></testcase></testsuite>', passed: '' }
JUNIT.passed = JUNIT.failed.replace('<failure/>', '')
for (const [name, text] of Object.entries(JUNIT)) writeFileSync(join(directory, `${name}.xml`), text)
const NO_FAILURE = `name: tests
mode: enforce
rules:
  - rule: tests
    expression: 'size(attestations) > 0 && attestations.all(a, a.status != "fail")'
    trust: any
`
const SHA = '9f2a1c3b4d5e6f708192a3b4c5d6e7f801234567'

type Reported = { report_id: string; run_id: string; warnings: string[] }

/** An organization whose gate asks for tests without failures, and the program in jobs of its CI. */
async function startPlay(caller: { orgId: string; slug: string; key: string }, common: Env) {
  await apply(api, caller as never, NO_FAILURE)
  await configureGate(api, caller as never, { policies: ['tests'] })
  let deploys = 0
  const call = async (args: string[], env: Env) => {
    const all = { SHIPLOCK_URL: api.url, SHIPLOCK_KEY: caller.key, ...common, ...env }
    const ended = await shiplock([...args, '--json'], { env: all, cwd: directory })
    assert.equal(ended.code, 0, ended.stderr)
    return ended.json
  }
  const open = (env: Env, job: string, ...args: string[]) =>
    call(['gate', 'open', '--environment', 'production', '--job', job, ...args], env)
  return {
    report: async (env: Env, junit: keyof typeof JUNIT, ...args: string[]): Promise<Reported> => {
      const reported = await call(['report', '--junit', `${junit}.xml`, '--job', 'test', ...args], env)
      await drainQueue(api)
      return reported
    },
    open,
    finish: (env: Env, status: string, ...args: string[]) => call(['run', 'finish', '--status', status, ...args], env),
    decide: async (env: Env, ...args: string[]): Promise<string> => {
      deploys += 1
      return (await open(env, `deploy-${deploys}`, ...args)).decision
    },
  }
}

/** What a system repeats: the report is replaced, is of a next attempt, or is of a new run. */
const REPEATED: Record<string, 'attempt' | 'run'> = {
  'GitHub Actions': 'attempt',
  CircleCI: 'run',
  Semaphore: 'run',
  Drone: 'run',
  Woodpecker: 'run',
  CodeBuild: 'run',
}

for (const { name, env, retry, sibling, server } of SYSTEMS) {
  test(`${name}, on a server: a retry replaces its own job alone, and another server has a run of its own`, async () => {
    const place = ['--repository', 'git.example.com/acme/shop', '--commit', SHA, '--ref', 'refs/heads/main']
    const { report, decide } = await startPlay(await api.caller(), {})
    const first = await report(env, 'failed', ...place)
    assert.equal(await decide(env, ...place), 'pending', 'the first try has failed')
    const again = having(env, retry)
    const second = await report(again, 'passed', ...place)
    const kept = { run: first.run_id === second.run_id, report: first.report_id === second.report_id }
    assert.deepEqual(kept, { run: REPEATED[name] !== 'run', report: REPEATED[name] === undefined })
    assert.equal(await decide(again, ...place), 'approved', 'the retry has passed')
    const there = having(env, server)
    const other = await report(there, 'failed', '--repository', 'git.example.com/zeta/pay', '--commit', '2'.repeat(40))
    assert.notEqual(other.run_id, first.run_id)
    if (Object.keys(sibling).length === 0) return
    // A job of an attempt that is over reports nothing any more.
    const beside = await report(having(REPEATED[name] === 'attempt' ? again : env, sibling), 'failed', ...place)
    assert.deepEqual([beside.run_id, beside.report_id === first.report_id], [first.run_id, false])
    assert.equal(await decide(again, ...place), 'pending', 'another job has failed')
  })
}

/** The systems whose jobs have tokens, with what the token says of each try. */
const TOKENS = {
  github: {
    first: { run_id: '55', run_attempt: '1', check_run_id: 101 },
    retry: { run_attempt: '2', check_run_id: 103 },
    sibling: { check_run_id: 102 },
  },
  gitlab: { first: { pipeline_id: '501', job_id: '9001' }, retry: { job_id: '9002' }, sibling: { job_id: '9003' } },
  bitbucket: {
    first: { pipelineUuid: '{f1d2d2f9-24e9-4c5a-b0d3-000000000001}', stepUuid: '{s-1}' },
    retry: {},
    sibling: { stepUuid: '{s-2}' },
  },
  azure: { first: { run_id: '42' }, retry: {}, sibling: {} },
} as const
const ADDRESS = {
  github: 'github.com/acme/shop',
  gitlab: 'gitlab.com/acme/shop',
  bitbucket: 'bitbucket.org/acme/shop',
  azure: 'dev.azure.com/acme/web/shop',
}

for (const [index, provider] of [
  [0, 'github'],
  [2, 'gitlab'],
  [4, 'azure'],
  [5, 'bitbucket'],
] as const) {
  const { name, env, retry, sibling } = SYSTEMS[index] as System
  test(`${name}, with its token: a retry replaces its own job alone`, async () => {
    const caller = await startTokenCaller(api, { provider })
    try {
      const { first: claims, retry: retried, sibling: other } = TOKENS[provider]
      const sha = provider === 'azure' ? { rpo_ver: SHA } : provider === 'bitbucket' ? {} : { sha: SHA }
      const place = ['--repository', ADDRESS[provider], '--commit', SHA]
      const { report, decide } = await startPlay(caller, { SHIPLOCK_KEY: '' })
      const job = async (variables: Env, more: object) => ({
        ...having(env, variables),
        SHIPLOCK_ID_TOKEN: await caller.sign({ ...claims, ...sha, ...more }),
      })
      const first = await report(await job({}, {}), 'failed', ...place)
      assert.equal(await decide(await job({}, {}), ...place), 'pending')
      const again = await job(retry, retried)
      const second = await report(again, 'passed', ...place)
      assert.equal(first.run_id, second.run_id)
      assert.equal(await decide(again, ...place), 'approved')
      await report(await job({ ...retry, ...sibling }, { ...retried, ...other }), 'failed', ...place)
      assert.equal(await decide(again, ...place), 'pending')
      const runs = (await api.request('GET', '/v1/runs', { key: caller.key })).body.data
      assert.deepEqual(
        runs.map(({ trust }: { trust: string }) => trust),
        ['verified'],
      )
    } finally {
      await caller.close()
    }
  })
}

const GITLAB = {
  GITLAB_CI: 'true',
  CI_SERVER_URL: 'https://gitlab.example.com',
  CI_PROJECT_URL: 'https://gitlab.example.com/acme/shop',
  CI_COMMIT_SHA: SHA,
  CI_COMMIT_REF_NAME: 'main',
  CI_PIPELINE_SOURCE: 'push',
  CI_PIPELINE_ID: '501',
  CI_JOB_RETRY_COUNT: '0',
}
const jobOf = (name: string, id: string): Env => ({ ...GITLAB, CI_JOB_NAME: name, CI_JOB_ID: id })

test('GitLab: after the final report a retried job reports, and the gate is asked anew in a new attempt', async () => {
  const caller = await api.caller()
  const { key } = caller
  const { report, open, finish } = await startPlay(caller, {})
  await report(jobOf('test', '1'), 'failed')
  const blocked = await open(jobOf('deploy', '2'), 'deploy')
  assert.equal(blocked.decision, 'pending')
  await finish(jobOf('end', '3'), 'failure')
  const retried = having(jobOf('test', '4'), { CI_JOB_RETRY_COUNT: '1' })
  await report(retried, 'passed')
  const asked = await open(having(jobOf('deploy', '5'), { CI_JOB_RETRY_COUNT: '1' }), 'deploy')
  assert.equal(asked.decision, 'approved')
  assert.notEqual(asked.gate_id, blocked.gate_id)
  const [run] = (await api.request('GET', '/v1/runs', { key })).body.data
  assert.equal(run.run_attempt, 2)
})

test('GitLab: a manual job deploys after the final report', async () => {
  const { report, open, finish } = await startPlay(await api.caller(), {})
  await report(jobOf('test', '1'), 'passed')
  await finish(jobOf('end', '2'), 'success')
  assert.equal((await open(jobOf('deploy', '3'), 'deploy')).decision, 'approved')
})

test('a gate that the policy blocks is asked anew after the fix, in the same run and job', async () => {
  const { report, open } = await startPlay(await api.caller(), {})
  await report(jobOf('test', '1'), 'failed')
  assert.equal((await open(jobOf('deploy', '2'), 'deploy')).decision, 'pending')
  await report(having(jobOf('test', '3'), { CI_JOB_RETRY_COUNT: '1' }), 'passed')
  assert.equal((await open(jobOf('deploy', '4'), 'deploy')).decision, 'approved')
})

test('an approval is not used again when the evidence has turned red before the deploy job is retried', async () => {
  const { report, open } = await startPlay(await api.caller(), {})
  await report(jobOf('test', '1'), 'passed')
  const approved = await open(jobOf('deploy', '2'), 'deploy')
  assert.equal(approved.decision, 'approved')
  await report(jobOf('integration', '3'), 'failed')
  const asked = await open(having(jobOf('deploy', '4'), { CI_JOB_RETRY_COUNT: '1' }), 'deploy')
  assert.deepEqual([asked.decision, asked.supersedes], ['pending', approved.gate_id])
})

test('a child pipeline deploys what its parent has tested, and not what it has failed', async () => {
  const { report, open } = await startPlay(await api.caller(), {})
  await report(jobOf('test', '1'), 'passed')
  const child = { CI_PIPELINE_ID: '502', CI_PIPELINE_SOURCE: 'parent_pipeline' }
  assert.equal((await open(having(jobOf('deploy', '2'), child), 'deploy')).decision, 'approved')
  await report(jobOf('integration', '3'), 'failed')
  assert.equal((await open(having(jobOf('deploy', '4'), child), 'other')).decision, 'pending')
})

test('GitHub: after "Re-run failed jobs" with the deploy job alone, the tests of the first attempt count', async () => {
  const { report, open, finish } = await startPlay(await api.caller(), {})
  const github = (attempt: number, id: string) => ({
    ...SYSTEMS[0]?.env,
    ...{ GITHUB_SHA: SHA, GITHUB_REF: 'refs/heads/main', GITHUB_RUN_ATTEMPT: `${attempt}`, RUNNER_TRACKING_ID: id },
  })
  await report(github(1, 'a'), 'failed')
  assert.equal((await open(github(1, 'b'), 'deploy')).decision, 'pending')
  await finish(github(1, 'c'), 'failure')
  assert.equal((await open(github(2, 'd'), 'deploy')).decision, 'pending', 'the failed tests count')
  await report(github(2, 'e'), 'passed')
  assert.equal((await open(github(2, 'f'), 'deploy')).decision, 'approved')
  await finish(github(2, 'g'), 'success')
  assert.equal((await open(github(3, 'h'), 'deploy')).decision, 'approved', 'the passed tests count')
})

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { CiJob } from '../src/ci/ci-job.ts'
import { detectCi } from '../src/ci/detect-ci.ts'
import { makeGitRepository } from './support/git-repository.ts'
import { temporaryDirectory } from './support/program.ts'

const SHA = '0123456789abcdef0123456789abcdef01234567'
const directory = temporaryDirectory()

function without(env: Record<string, string>, name: string): Record<string, string> {
  const { [name]: _, ...rest } = env
  return rest
}

function properties(name: string, text: string): string {
  const path = join(directory, name)
  writeFileSync(path, text)
  return path
}

const GITHUB = {
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_RUN_ID: '14700000001',
  GITHUB_RUN_ATTEMPT: '2',
  GITHUB_SHA: SHA,
  GITHUB_REF: 'refs/heads/main',
  GITHUB_WORKFLOW: 'CI',
  GITHUB_JOB: 'test',
  GITHUB_ACTOR: 'ada',
  GITHUB_EVENT_NAME: 'push',
}
const GITLAB = {
  GITLAB_CI: 'true',
  CI_PIPELINE_ID: '987',
  CI_PIPELINE_URL: 'https://gitlab.com/acme/shop/-/pipelines/987',
  CI_PIPELINE_SOURCE: 'push',
  CI_PROJECT_URL: 'https://gitlab.com/acme/shop',
  CI_COMMIT_SHA: SHA,
  CI_COMMIT_REF_NAME: 'main',
  CI_JOB_NAME: 'unit tests',
  GITLAB_USER_LOGIN: 'ada',
}
const JENKINS = {
  JENKINS_URL: 'https://ci.example.com/',
  BUILD_NUMBER: '42',
  JOB_NAME: 'acme/shop/main',
  BUILD_URL: 'https://ci.example.com/job/acme/job/shop/job/main/42/',
  GIT_COMMIT: SHA,
  GIT_BRANCH: 'origin/main',
  GIT_URL: 'https://bot:secret@git.example.com/acme/shop.git',
  BRANCH_NAME: 'main',
  STAGE_NAME: 'Test',
}
const CIRCLECI = {
  CIRCLECI: 'true',
  CIRCLE_WORKFLOW_ID: '5f0b2c1e-1111-4222-8333-abcdefabcdef',
  CIRCLE_BUILD_NUM: '77',
  CIRCLE_BUILD_URL: 'https://circleci.com/gh/acme/shop/77',
  CIRCLE_REPOSITORY_URL: 'git@github.com:acme/shop.git',
  CIRCLE_PROJECT_USERNAME: 'acme',
  CIRCLE_PROJECT_REPONAME: 'shop',
  CIRCLE_SHA1: SHA,
  CIRCLE_BRANCH: 'main',
  CIRCLE_JOB: 'test',
  CIRCLE_USERNAME: 'ada',
}
const BUILDKITE = {
  BUILDKITE: 'true',
  BUILDKITE_BUILD_ID: '9e08ef3c-d6e6-4a86-91dd-577ce5205b8e',
  BUILDKITE_BUILD_NUMBER: '1514',
  BUILDKITE_BUILD_URL: 'https://buildkite.com/acme/shop/builds/1514',
  BUILDKITE_REPO: 'git@github.com:acme/shop.git',
  BUILDKITE_COMMIT: SHA,
  BUILDKITE_BRANCH: 'main',
  BUILDKITE_TAG: '',
  BUILDKITE_PULL_REQUEST: 'false',
  BUILDKITE_PIPELINE_NAME: 'Shop',
  BUILDKITE_LABEL: ':hammer: Test',
  BUILDKITE_BUILD_CREATOR: 'Ada',
  BUILDKITE_SOURCE: 'webhook',
}
const AZURE = {
  TF_BUILD: 'True',
  BUILD_BUILDURI: 'vstfs:///Build/Build/314',
  BUILD_BUILDID: '314',
  BUILD_BUILDNUMBER: '20261122.1',
  BUILD_REPOSITORY_URI: 'https://acme@dev.azure.com/acme/Web%20Shop/_git/shop',
  BUILD_SOURCEVERSION: SHA,
  BUILD_SOURCEBRANCH: 'refs/heads/main',
  BUILD_DEFINITIONNAME: 'shop CI',
  BUILD_REQUESTEDFOR: 'Ada Lovelace',
  BUILD_REASON: 'IndividualCI',
  SYSTEM_COLLECTIONURI: 'https://dev.azure.com/acme/',
  SYSTEM_TEAMPROJECT: 'Web Shop',
  SYSTEM_JOBDISPLAYNAME: 'Test',
  SYSTEM_JOBATTEMPT: '2',
}
const BITBUCKET = {
  BITBUCKET_BUILD_NUMBER: '55',
  BITBUCKET_PIPELINE_UUID: '{f1d2d2f9-24e9-4c5a-b0d3-000000000001}',
  BITBUCKET_REPO_FULL_NAME: 'acme/shop',
  BITBUCKET_COMMIT: SHA,
  BITBUCKET_BRANCH: 'main',
  BITBUCKET_STEP_TRIGGERER_UUID: '{0a0a0a0a-0000-4000-8000-000000000002}',
}
const TEAMCITY = {
  TEAMCITY_VERSION: '2025.07',
  TEAMCITY_PROJECT_NAME: 'Shop',
  TEAMCITY_BUILDCONF_NAME: 'Test',
  BUILD_NUMBER: '12',
  BUILD_VCS_NUMBER: SHA,
  BUILD_URL: 'https://teamcity.example.com/build/8811',
  TEAMCITY_BUILD_PROPERTIES_FILE: properties(
    'build.properties',
    `teamcity.build.id=8811\nteamcity.build.triggeredBy.username=ada\nteamcity.configuration.properties.file=${properties(
      'configuration.properties',
      '# comment\nvcsroot.url=https\\://git.example.com/acme/shop.git\nteamcity.build.branch=main\n',
    )}\n`,
  ),
}
const DRONE = {
  DRONE: 'true',
  DRONE_REPO: 'acme/shop',
  DRONE_REPO_OWNER: 'acme',
  DRONE_REPO_NAME: 'shop',
  DRONE_BUILD_NUMBER: '9',
  DRONE_BUILD_EVENT: 'push',
  DRONE_BUILD_TRIGGER: '@hook',
  DRONE_BUILD_LINK: 'https://drone.example.com/acme/shop/9',
  DRONE_GIT_HTTP_URL: 'https://github.com/acme/shop.git',
  DRONE_COMMIT_SHA: SHA,
  DRONE_COMMIT_AUTHOR: 'ada',
  DRONE_BRANCH: 'main',
  DRONE_STAGE_NAME: 'default',
  DRONE_STEP_NAME: 'test',
}
const TRAVIS = {
  TRAVIS: 'true',
  TRAVIS_BUILD_ID: '271828',
  TRAVIS_BUILD_NUMBER: '7',
  TRAVIS_BUILD_WEB_URL: 'https://app.travis-ci.com/acme/shop/builds/271828',
  TRAVIS_REPO_SLUG: 'acme/shop',
  TRAVIS_COMMIT: SHA,
  TRAVIS_BRANCH: 'main',
  TRAVIS_TAG: '',
  TRAVIS_PULL_REQUEST: 'false',
  TRAVIS_PULL_REQUEST_BRANCH: '',
  TRAVIS_EVENT_TYPE: 'push',
  TRAVIS_JOB_NAME: 'test',
}

const common = { attempt: 1, commit_sha: SHA, ref: 'main', job: 'test', actor: 'ada', event: 'push' } as const
/** What `ci-identity.test.ts` is about. */
type Identity = 'ci_instance' | 'head_sha' | 'job_key' | 'job_instance' | 'job_retries'
const JOBS: [env: Record<string, string>, job: Omit<CiJob, Identity>][] = [
  [
    GITHUB,
    {
      ...common,
      ci_system: 'github-actions',
      ci_system_name: 'GitHub Actions',
      external_run_id: '14700000001',
      attempt: 2,
      repository: 'https://github.com/acme/shop',
      ref: 'refs/heads/main',
      pipeline_name: 'CI',
      url: 'https://github.com/acme/shop/actions/runs/14700000001',
    },
  ],
  [
    GITLAB,
    {
      ...common,
      ci_system: 'gitlab-ci',
      ci_system_name: 'GitLab CI/CD',
      external_run_id: '987',
      repository: 'https://gitlab.com/acme/shop',
      pipeline_name: '.gitlab-ci.yml',
      job: 'unit tests',
      url: GITLAB.CI_PIPELINE_URL,
    },
  ],
  [
    JENKINS,
    {
      ...common,
      ci_system: 'jenkins',
      ci_system_name: 'Jenkins',
      external_run_id: 'acme/shop/main/42',
      repository: 'https://git.example.com/acme/shop.git',
      pipeline_name: 'acme/shop/main',
      job: 'Test',
      actor: null,
      event: 'other',
      url: JENKINS.BUILD_URL,
    },
  ],
  [
    CIRCLECI,
    {
      ...common,
      ci_system: 'circleci',
      ci_system_name: 'CircleCI',
      external_run_id: CIRCLECI.CIRCLE_WORKFLOW_ID,
      repository: 'git@github.com:acme/shop.git',
      pipeline_name: 'shop',
      url: CIRCLECI.CIRCLE_BUILD_URL,
    },
  ],
  [
    BUILDKITE,
    {
      ...common,
      ci_system: 'buildkite',
      ci_system_name: 'Buildkite',
      external_run_id: BUILDKITE.BUILDKITE_BUILD_ID,
      repository: 'git@github.com:acme/shop.git',
      pipeline_name: 'Shop',
      job: ':hammer: Test',
      actor: 'Ada',
      url: BUILDKITE.BUILDKITE_BUILD_URL,
    },
  ],
  [
    AZURE,
    {
      ...common,
      ci_system: 'azure-pipelines',
      ci_system_name: 'Azure Pipelines',
      external_run_id: '314',
      repository: 'https://dev.azure.com/acme/Web%20Shop/_git/shop',
      ref: 'refs/heads/main',
      pipeline_name: 'shop CI',
      job: 'Test',
      actor: 'Ada Lovelace',
      url: 'https://dev.azure.com/acme/Web%20Shop/_build/results?buildId=314',
    },
  ],
  [
    BITBUCKET,
    {
      ...common,
      ci_system: 'bitbucket-pipelines',
      ci_system_name: 'Bitbucket Pipelines',
      external_run_id: 'f1d2d2f9-24e9-4c5a-b0d3-000000000001',
      repository: 'https://bitbucket.org/acme/shop',
      pipeline_name: 'bitbucket-pipelines.yml',
      job: null,
      actor: '0a0a0a0a-0000-4000-8000-000000000002',
      url: 'https://bitbucket.org/acme/shop/pipelines/results/55',
    },
  ],
  [
    TEAMCITY,
    {
      ...common,
      ci_system: 'teamcity',
      ci_system_name: 'TeamCity',
      external_run_id: '8811',
      repository: 'https://git.example.com/acme/shop.git',
      pipeline_name: 'Shop / Test',
      job: null,
      event: 'other',
      url: TEAMCITY.BUILD_URL,
    },
  ],
  [
    DRONE,
    {
      ...common,
      ci_system: 'drone',
      ci_system_name: 'Drone',
      external_run_id: 'acme/shop/9',
      repository: 'https://github.com/acme/shop.git',
      pipeline_name: '.drone.yml',
      url: DRONE.DRONE_BUILD_LINK,
    },
  ],
  [
    TRAVIS,
    {
      ...common,
      ci_system: 'travis-ci',
      ci_system_name: 'Travis CI',
      external_run_id: '271828',
      repository: 'https://github.com/acme/shop',
      pipeline_name: '.travis.yml',
      actor: null,
      url: TRAVIS.TRAVIS_BUILD_WEB_URL,
    },
  ],
]

for (const [env, job] of JOBS) {
  test(`a push on ${job.ci_system_name}`, () => {
    const {
      ci_instance: _,
      head_sha,
      job_key: _key,
      job_instance: _instance,
      job_retries: _retries,
      ...found
    } = detectCi(env, directory) as CiJob
    assert.deepEqual(found, job)
    assert.equal(head_sha, null)
  })
}

const CHANGED: [what: string, env: Record<string, string>, fields: Partial<CiJob>][] = [
  ['a tag on GitHub', { ...GITHUB, GITHUB_REF: 'refs/tags/v1' }, { ref: 'refs/tags/v1', event: 'tag' }],
  [
    'a pull request on GitHub: the merge commit, as in the token',
    {
      ...GITHUB,
      GITHUB_EVENT_NAME: 'pull_request',
      GITHUB_REF: 'refs/pull/5/merge',
      GITHUB_HEAD_REF: 'topic',
      GITHUB_BASE_REF: 'main',
    },
    { commit_sha: SHA, ref: 'refs/pull/5/merge', event: 'pull_request' },
  ],
  [
    'pull_request_target on GitHub, without its event file',
    { ...GITHUB, GITHUB_EVENT_NAME: 'pull_request_target', GITHUB_EVENT_PATH: '/none' },
    { ref: 'refs/heads/main', event: 'pull_request', ci_system: 'github-actions' },
  ],
  ['a GitHub workflow by hand', { ...GITHUB, GITHUB_EVENT_NAME: 'workflow_dispatch' }, { event: 'manual' }],
  ['a GitHub workflow after another', { ...GITHUB, GITHUB_EVENT_NAME: 'workflow_run' }, { event: 'other' }],
  [
    'GitHub Enterprise Server',
    { ...GITHUB, GITHUB_SERVER_URL: 'https://ghe.example.com' },
    { repository: 'https://ghe.example.com/acme/shop' },
  ],
  [
    'a tag on GitLab',
    { ...GITLAB, CI_COMMIT_TAG: 'v1', CI_COMMIT_REF_NAME: 'v1' },
    { ref: 'refs/tags/v1', event: 'tag' },
  ],
  [
    'a merge request on GitLab',
    { ...GITLAB, CI_MERGE_REQUEST_ID: '5', CI_COMMIT_REF_NAME: 'topic', CI_PIPELINE_SOURCE: 'merge_request_event' },
    { ref: 'topic', event: 'pull_request' },
  ],
  [
    'a named GitLab pipeline by hand',
    { ...GITLAB, CI_PIPELINE_NAME: 'Nightly', CI_PIPELINE_SOURCE: 'web' },
    { pipeline_name: 'Nightly', event: 'manual' },
  ],
  [
    'a pull request on Jenkins',
    { ...JENKINS, CHANGE_ID: '5', CHANGE_BRANCH: 'topic', CHANGE_AUTHOR: 'ada', BRANCH_NAME: 'PR-5' },
    { ref: 'topic', event: 'pull_request', actor: 'ada' },
  ],
  [
    'a Jenkins job whose name the API does not take',
    { ...JENKINS, JOB_NAME: 'Shöp tests' },
    { external_run_id: 'Sh-p-tests/42-87eeed979800', pipeline_name: 'Shöp tests' },
  ],
  [
    'a pull request on CircleCI',
    { ...CIRCLECI, CIRCLE_PULL_REQUEST: 'https://github.com/acme/shop/pull/5', CIRCLE_BRANCH: 'topic' },
    { ref: 'topic', event: 'pull_request' },
  ],
  [
    'a Buildkite build by hand, whose commit is not known yet',
    { ...BUILDKITE, BUILDKITE_COMMIT: 'HEAD', BUILDKITE_SOURCE: 'ui' },
    { commit_sha: null, event: 'manual' },
  ],
  [
    'a pull request on Buildkite',
    {
      ...BUILDKITE,
      BUILDKITE_PULL_REQUEST: '5',
      BUILDKITE_PULL_REQUEST_BASE_BRANCH: 'main',
      BUILDKITE_BRANCH: 'topic',
    },
    { ref: 'topic', event: 'pull_request' },
  ],
  [
    'a pull request on Azure',
    { ...AZURE, BUILD_REASON: 'PullRequest', BUILD_SOURCEBRANCH: 'refs/pull/5/merge' },
    { ref: 'refs/pull/5/merge', event: 'pull_request' },
  ],
  ['a tag on Azure', { ...AZURE, BUILD_SOURCEBRANCH: 'refs/tags/v1' }, { ref: 'refs/tags/v1', event: 'tag' }],
  [
    'a pull request on Bitbucket',
    { ...BITBUCKET, BITBUCKET_PR_ID: '5', BITBUCKET_BRANCH: 'topic' },
    { ref: 'topic', event: 'pull_request' },
  ],
  ['a custom pipeline on Bitbucket', { ...BITBUCKET, BITBUCKET_BRANCH: '' }, { ref: null, event: 'other' }],
  [
    'TeamCity without its files',
    { ...TEAMCITY, TEAMCITY_BUILD_PROPERTIES_FILE: '/none' },
    { external_run_id: 'Shop-/-Test/12-69bb1e93984f', repository: null, actor: null },
  ],
  [
    'a promotion on Drone',
    { ...DRONE, DRONE_BUILD_EVENT: 'promote', DRONE_BUILD_TRIGGER: 'bob' },
    { event: 'other', actor: 'bob' },
  ],
  [
    'a pull request on Drone',
    { ...DRONE, DRONE_BUILD_EVENT: 'pull_request', DRONE_SOURCE_BRANCH: 'topic' },
    { ref: 'topic', event: 'pull_request' },
  ],
  ['Azure without BUILD_BUILDURI', without(AZURE, 'BUILD_BUILDURI'), { ci_system: 'azure-pipelines', commit_sha: SHA }],
  [
    'Bitbucket without a build number',
    without(BITBUCKET, 'BITBUCKET_BUILD_NUMBER'),
    { ci_system: 'bitbucket-pipelines' },
  ],
  [
    'Jenkins without a configured URL',
    { ...without(JENKINS, 'JENKINS_URL'), BUILD_TAG: 'jenkins-acme-shop-main-42' },
    { ci_system: 'jenkins', external_run_id: 'acme/shop/main/42', commit_sha: SHA, ref: 'main' },
  ],
  [
    'a pull request on Jenkins without a configured URL',
    { ...without(JENKINS, 'JENKINS_URL'), JENKINS_HOME: '/var/jenkins', CHANGE_ID: '7', CHANGE_BRANCH: 'topic' },
    { ci_system: 'jenkins', ref: 'topic', event: 'pull_request' },
  ],
  ['a cron job on Travis', { ...TRAVIS, TRAVIS_EVENT_TYPE: 'cron' }, { event: 'schedule' }],
  [
    'a CI that only the library knows',
    { BITRISE_IO: 'true', BITRISE_BUILD_NUMBER: '3', BITRISE_GIT_COMMIT: SHA, BITRISE_GIT_BRANCH: 'main' },
    { ci_system: 'bitrise', external_run_id: '3', commit_sha: SHA, attempt: 1 },
  ],
]

for (const [what, env, fields] of CHANGED) {
  test(what, () => {
    const job = detectCi(env, directory)
    assert.ok(job !== null)
    assert.deepEqual(Object.fromEntries(Object.keys(fields).map((name) => [name, job[name as keyof CiJob]])), fields)
  })
}

test('ids that the API does not take stay different', () => {
  const [first, second] = ['Shop tests', 'Shop-tests!'].map((JOB_NAME) => detectCi({ ...JENKINS, JOB_NAME }, directory))
  assert.match(first?.external_run_id ?? '', /^[A-Za-z0-9._:/-]{1,128}$/)
  assert.notEqual(first?.external_run_id, second?.external_run_id)
  const long = detectCi({ ...JENKINS, JOB_NAME: 'x'.repeat(300) }, directory)
  assert.equal(long?.external_run_id.length, 128)
})

test('no CI: an environment without one, in a git repository too; a CI that names no run', () => {
  assert.equal(detectCi({}, makeGitRepository('https://github.com/acme/shop').directory), null)
  assert.equal(detectCi({ CI: 'true' }, directory), null)
  assert.equal(detectCi({ JENKINS_URL: 'https://ci.example.com/' }, directory), null)
})

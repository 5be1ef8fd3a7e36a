import { readFileSync } from 'node:fs'
import { type CiEvent, type CiFields, type Detected, eventNamed, refOf } from './ci-job.ts'
import { formatServer, hashEnvironment, joinParts, shortHash } from './job-identity.ts'

/**
 * https://www.jenkins.io/doc/book/pipeline/jenkinsfile/#using-environment-variables. A build number
 * belongs to its job. A rebuild has a new number. Jenkins does not tell what started a build.
 */
export function readJenkins(env: NodeJS.ProcessEnv, { commit, branch, prBranch, isPr }: Detected): CiFields {
  const name = env.JOB_NAME
  const ref = refOf(env.TAG_NAME, env.CHANGE_BRANCH || prBranch || branch)
  return {
    ci_system: 'jenkins',
    ci_system_name: 'Jenkins',
    external_run_id: env.BUILD_NUMBER && `${name ?? ''}/${env.BUILD_NUMBER}`,
    ci_instance: formatServer(env.JENKINS_URL, 'with path'),
    repository: env.GIT_URL || env.GIT_URL_1,
    commit_sha: commit,
    ref: ref?.replace(/^origin\//, ''),
    pipeline_name: name,
    job: env.STAGE_NAME || axesOf(name),
    job_instance: hashEnvironment(env),
    actor: env.BUILD_USER_ID || env.CHANGE_AUTHOR,
    event: isPr ? 'pull_request' : env.TAG_NAME ? 'tag' : 'other',
    url: env.BUILD_URL,
  }
}

/** The cells of a classic matrix project are jobs of their own, such as `shop/OS=linux`. */
function axesOf(name: string | undefined): string | undefined {
  const last = name?.split('/').at(-1)
  return last?.includes('=') ? last : undefined
}

/**
 * https://circleci.com/docs/reference/variables/. A workflow is one run of several jobs. A rerun is
 * a new workflow. Scheduled workflows are not told from pushes.
 */
export function readCircleCi(env: NodeJS.ProcessEnv, { isPr }: Detected): CiFields {
  const { CIRCLE_TAG: tag, CIRCLE_BRANCH: branch } = env
  return {
    ci_system: 'circleci',
    ci_system_name: 'CircleCI',
    external_run_id: env.CIRCLE_WORKFLOW_ID || env.CIRCLE_BUILD_NUM,
    ci_instance: env.CIRCLE_ORGANIZATION_ID,
    repository: env.CIRCLE_REPOSITORY_URL,
    commit_sha: env.CIRCLE_SHA1,
    ref: refOf(tag, branch),
    pipeline_name: env.CIRCLE_PROJECT_REPONAME,
    job: env.CIRCLE_JOB,
    job_key: joinParts(env.CIRCLE_JOB, env.CIRCLE_NODE_INDEX),
    job_instance: env.CIRCLE_WORKFLOW_JOB_ID,
    actor: env.CIRCLE_USERNAME,
    event: isPr ? 'pull_request' : tag ? 'tag' : branch ? 'push' : 'other',
    url: env.CIRCLE_BUILD_URL,
  }
}

/**
 * https://buildkite.com/docs/pipelines/configure/environment-variables. A rebuild is a new build;
 * retries are counted for jobs. The commit of a build that was started by hand may be `HEAD`.
 */
export function readBuildkite(env: NodeJS.ProcessEnv, { isPr }: Detected): CiFields {
  const tag = env.BUILDKITE_TAG
  const isPush = env.BUILDKITE_SOURCE === 'webhook'
  return {
    ci_system: 'buildkite',
    ci_system_name: 'Buildkite',
    external_run_id: env.BUILDKITE_BUILD_ID,
    ci_instance: env.BUILDKITE_ORGANIZATION_SLUG,
    repository: env.BUILDKITE_REPO,
    commit_sha: env.BUILDKITE_COMMIT,
    ref: refOf(tag, env.BUILDKITE_BRANCH),
    pipeline_name: env.BUILDKITE_PIPELINE_NAME || env.BUILDKITE_PIPELINE_SLUG,
    job: env.BUILDKITE_LABEL || env.BUILDKITE_STEP_KEY,
    job_key: env.BUILDKITE_STEP_ID && joinParts(env.BUILDKITE_STEP_ID, env.BUILDKITE_PARALLEL_JOB, legOf(env)),
    job_instance: env.BUILDKITE_JOB_ID,
    job_retries: env.BUILDKITE_RETRY_COUNT,
    actor: env.BUILDKITE_BUILD_CREATOR || env.BUILDKITE_BUILD_AUTHOR,
    event: isPr ? 'pull_request' : isPush && tag ? 'tag' : eventNamed(env.BUILDKITE_SOURCE, BUILDKITE_EVENTS),
    url: env.BUILDKITE_BUILD_URL,
  }
}

/** The jobs of a matrix have one step, and differ in label and command. */
function legOf({ BUILDKITE_LABEL: label, BUILDKITE_COMMAND: command }: NodeJS.ProcessEnv): string | undefined {
  return label || command ? shortHash(JSON.stringify([label, command]), 12) : undefined
}

const BUILDKITE_EVENTS: Record<string, CiEvent> = { webhook: 'push', schedule: 'schedule', ui: 'manual' }

/**
 * https://www.jetbrains.com/help/teamcity/predefined-build-parameters.html. Most parameters are in
 * files whose names are in the environment. TeamCity does not tell what started a build.
 */
export function readTeamCity(env: NodeJS.ProcessEnv, { branch }: Detected): CiFields {
  const build = readProperties(env.TEAMCITY_BUILD_PROPERTIES_FILE)
  const all = { ...readProperties(build['teamcity.configuration.properties.file']), ...build }
  const name = [env.TEAMCITY_PROJECT_NAME, env.TEAMCITY_BUILDCONF_NAME].filter(Boolean).join(' / ')
  const build_id = all['teamcity.build.id'] || (env.BUILD_NUMBER && `${name}/${env.BUILD_NUMBER}`)
  return {
    ci_system: 'teamcity',
    ci_system_name: 'TeamCity',
    external_run_id: build_id,
    ci_instance: formatServer(all['teamcity.serverUrl'], 'with path') || formatServer(env.BUILD_URL, 'host only'),
    job_instance: build_id,
    repository: all['vcsroot.url'],
    commit_sha: env.BUILD_VCS_NUMBER,
    ref: all['teamcity.build.vcs.branch'] || branch,
    pipeline_name: name,
    actor: all['teamcity.build.triggeredBy.username'],
    url: env.BUILD_URL,
  }
}

/** Reads a Java properties file: `key=value`, with backslashes before special characters. */
function readProperties(path: string | undefined): Record<string, string> {
  if (!path) return {}
  try {
    const lines = readFileSync(path, 'utf8').matchAll(
      /^[ \t]*((?:\\.|[^#!=:\s\\])(?:\\.|[^=:\s\\])*)(?:[ \t]*[=:][ \t]*| [ \t]*)(.*)/gm,
    )
    return Object.fromEntries(
      [...lines].map(([, key = '', value = '']) => [withoutEscapes(key), withoutEscapes(value.trimEnd())]),
    )
  } catch {
    return {}
  }
}

function withoutEscapes(text: string): string {
  return text.replace(/\\(.)/g, '$1')
}

/**
 * https://docs.drone.io/pipeline/environment/reference/. A build number belongs to its repository.
 * A restarted build has a new number.
 */
export function readDrone(env: NodeJS.ProcessEnv): CiFields {
  const repository = env.DRONE_REPO || `${env.DRONE_REPO_OWNER}/${env.DRONE_REPO_NAME}`
  const isTriggeredByHook = (env.DRONE_BUILD_TRIGGER || '@hook').startsWith('@')
  const event = eventNamed(env.DRONE_BUILD_EVENT, DRONE_EVENTS)
  const branch = event === 'pull_request' ? env.DRONE_SOURCE_BRANCH : env.DRONE_BRANCH
  return {
    ci_system: 'drone',
    ci_system_name: 'Drone',
    external_run_id: env.DRONE_BUILD_NUMBER && `${repository}/${env.DRONE_BUILD_NUMBER}`,
    ci_instance: joinParts(
      env.DRONE_SYSTEM_HOST?.toLowerCase() || formatServer(env.DRONE_BUILD_LINK, 'host only'),
      repository,
    ),
    repository: env.DRONE_GIT_HTTP_URL || env.DRONE_REPO_LINK,
    commit_sha: env.DRONE_COMMIT_SHA || env.DRONE_COMMIT,
    ref: refOf(env.DRONE_TAG, branch),
    pipeline_name: '.drone.yml',
    job: env.DRONE_STEP_NAME || env.DRONE_STAGE_NAME,
    job_key: joinParts(env.DRONE_STAGE_NAME, env.DRONE_STEP_NAME),
    actor: isTriggeredByHook ? env.DRONE_COMMIT_AUTHOR : env.DRONE_BUILD_TRIGGER,
    event,
    url: env.DRONE_BUILD_LINK,
  }
}

const DRONE_EVENTS: Record<string, CiEvent> = {
  push: 'push',
  pull_request: 'pull_request',
  tag: 'tag',
  cron: 'schedule',
  custom: 'manual',
}

/**
 * https://docs.travis-ci.com/user/environment-variables/#default-environment-variables. A restarted
 * build keeps its id and has no number of attempts.
 */
export function readTravis(env: NodeJS.ProcessEnv): CiFields {
  const event =
    env.TRAVIS_TAG && env.TRAVIS_EVENT_TYPE === 'push' ? 'tag' : eventNamed(env.TRAVIS_EVENT_TYPE, TRAVIS_EVENTS)
  return {
    ci_system: 'travis-ci',
    ci_system_name: 'Travis CI',
    external_run_id: env.TRAVIS_BUILD_ID,
    ci_instance: formatServer(env.TRAVIS_BUILD_WEB_URL, 'host only'),
    repository: env.TRAVIS_REPO_SLUG && `https://github.com/${env.TRAVIS_REPO_SLUG}`,
    commit_sha: env.TRAVIS_COMMIT,
    head_sha: env.TRAVIS_PULL_REQUEST_SHA,
    ref: refOf(env.TRAVIS_TAG, env.TRAVIS_PULL_REQUEST_BRANCH || env.TRAVIS_BRANCH),
    pipeline_name: '.travis.yml',
    job: env.TRAVIS_JOB_NAME || env.TRAVIS_JOB_NUMBER,
    job_key: env.TRAVIS_JOB_NUMBER,
    job_instance: env.TRAVIS_JOB_ID,
    event,
    url: env.TRAVIS_BUILD_WEB_URL,
  }
}

const TRAVIS_EVENTS: Record<string, CiEvent> = { push: 'push', pull_request: 'pull_request', cron: 'schedule' }

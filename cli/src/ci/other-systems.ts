import { readDrone } from './build-servers.ts'
import { type CiFields, type Detected, eventNamed, refOf } from './ci-job.ts'
import { formatServer, joinParts } from './job-identity.ts'

/**
 * https://developer.harness.io/docs/continuous-integration/troubleshoot-ci/ci-env-var/. The number of a
 * build belongs to its pipeline. Harness has the variables of Drone for the repository.
 */
export function readHarness(env: NodeJS.ProcessEnv): CiFields {
  return {
    ...readDrone(env),
    ci_system: 'harness',
    ci_system_name: 'Harness',
    external_run_id: env.HARNESS_BUILD_ID,
    ci_instance: joinParts(env.HARNESS_ACCOUNT_ID, env.HARNESS_ORG_ID, env.HARNESS_PROJECT_ID, env.HARNESS_PIPELINE_ID),
    pipeline_name: env.HARNESS_PIPELINE_ID,
    job: joinParts(env.HARNESS_STAGE_ID, env.HARNESS_STEP_ID),
    job_key: joinParts(env.HARNESS_STAGE_ID, env.HARNESS_STEP_ID),
    job_instance: env.HARNESS_EXECUTION_ID,
  }
}

/** https://docs.semaphore.io/reference/env-vars. A workflow is one run of several jobs. A rerun is a new one. */
export function readSemaphore(env: NodeJS.ProcessEnv, { isPr, prBranch, branch }: Detected): CiFields {
  const tag = env.SEMAPHORE_GIT_TAG_NAME
  return {
    ci_system: 'semaphore',
    ci_system_name: 'Semaphore',
    external_run_id: env.SEMAPHORE_WORKFLOW_ID || env.SEMAPHORE_JOB_ID,
    ci_instance: formatServer(env.SEMAPHORE_ORGANIZATION_URL, 'with path'),
    repository: env.SEMAPHORE_GIT_URL,
    commit_sha: env.SEMAPHORE_GIT_SHA,
    ref: refOf(tag, prBranch || branch),
    pipeline_name: env.SEMAPHORE_PROJECT_NAME,
    job: env.SEMAPHORE_JOB_NAME,
    job_key: env.SEMAPHORE_JOB_NAME,
    job_instance: env.SEMAPHORE_JOB_ID,
    event: isPr ? 'pull_request' : tag ? 'tag' : branch ? 'push' : 'other',
    url: joinUrl(env.SEMAPHORE_ORGANIZATION_URL, `workflows/${env.SEMAPHORE_WORKFLOW_ID}`),
  }
}

function joinUrl(base: string | undefined, path: string): string | undefined {
  return base && `${base.replace(/(?<!\/)\/+$/, '')}/${path}`
}

/**
 * https://woodpecker-ci.org/docs/usage/environment. The number of a pipeline belongs to its repository.
 * A restarted one has a new number.
 */
export function readWoodpecker(env: NodeJS.ProcessEnv, detected: Detected): CiFields {
  const { slug, build } = detected
  return {
    ci_system: 'woodpecker',
    ci_system_name: 'Woodpecker CI',
    external_run_id: build && joinParts(slug, build),
    ci_instance: joinParts(env.CI_SYSTEM_HOST?.toLowerCase() || formatServer(env.CI_SYSTEM_URL, 'host only'), slug),
    repository: env.CI_REPO_CLONE_URL || env.CI_REPO_URL,
    commit_sha: env.CI_COMMIT_SHA,
    ref: refOf(env.CI_COMMIT_TAG, detected.prBranch || detected.branch),
    job: env.CI_STEP_NAME,
    job_key: joinParts(env.CI_WORKFLOW_NAME, env.CI_STEP_NAME),
    actor: env.CI_COMMIT_AUTHOR,
    event: eventNamed(env.CI_PIPELINE_EVENT, WOODPECKER_EVENTS),
    url: env.CI_PIPELINE_URL,
  }
}

const WOODPECKER_EVENTS = {
  push: 'push',
  pull_request: 'pull_request',
  tag: 'tag',
  cron: 'schedule',
  manual: 'manual',
} as const

/** https://docs.aws.amazon.com/codebuild/latest/userguide/build-env-ref-env-vars.html. A retry is a new build. */
export function readCodeBuild(env: NodeJS.ProcessEnv, detected: Detected): CiFields {
  const [, region, account] = /^arn:[^:]*:codebuild:([^:]*):([^:]*):/.exec(env.CODEBUILD_BUILD_ARN ?? '') ?? []
  return {
    ci_system: 'codebuild',
    ci_system_name: 'AWS CodeBuild',
    external_run_id: env.CODEBUILD_BUILD_ID,
    ci_instance: joinParts(region ?? env.AWS_REGION, account),
    repository: env.CODEBUILD_SOURCE_REPO_URL,
    commit_sha: env.CODEBUILD_RESOLVED_SOURCE_VERSION || detected.commit,
    ref: detected.branch,
    pipeline_name: env.CODEBUILD_BUILD_ID?.split(':')[0],
    job: env.CODEBUILD_BATCH_BUILD_IDENTIFIER,
    job_key: env.CODEBUILD_BATCH_BUILD_IDENTIFIER,
    job_instance: env.CODEBUILD_BUILD_ID,
    event: 'other',
    url: detected.buildUrl,
  }
}

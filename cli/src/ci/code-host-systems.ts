import { readFileSync } from 'node:fs'
import { type CiEvent, type CiFields, eventNamed, refOf } from './ci-job.ts'
import { countRetries, formatServer, joinParts, normalizeUuid } from './job-identity.ts'

/**
 * https://docs.github.com/en/actions/reference/workflows-and-actions/variables. The commit and the
 * ref are those of the job's OIDC token, also for pull requests.
 */
export function readGitHub(env: NodeJS.ProcessEnv): CiFields {
  const { GITHUB_SERVER_URL: server = 'https://github.com', GITHUB_REPOSITORY: name } = env
  const isTag = env.GITHUB_EVENT_NAME === 'push' && env.GITHUB_REF?.startsWith('refs/tags/')
  return {
    ...systemOf(env),
    external_run_id: env.GITHUB_RUN_ID,
    ci_instance: formatServer(server, 'host only'),
    attempt: env.GITHUB_RUN_ATTEMPT,
    repository: name && `${server}/${name}`,
    commit_sha: env.GITHUB_SHA,
    head_sha: readHead(env.GITHUB_EVENT_PATH),
    ref: env.GITHUB_REF,
    pipeline_name: env.GITHUB_WORKFLOW,
    job: env.GITHUB_JOB,
    actor: env.GITHUB_ACTOR,
    event: isTag ? 'tag' : eventNamed(env.GITHUB_EVENT_NAME, GITHUB_EVENTS),
    url: name && `${server}/${name}/actions/runs/${env.GITHUB_RUN_ID}`,
  }
}

/**
 * GitHub names no execution of a job in a variable: its token does. The tracking id is the runner's own
 * for this job. Gitea and Forgejo have the variables of GitHub, and none that tells jobs apart.
 */
function systemOf(env: NodeJS.ProcessEnv): CiFields {
  if (!env.GITEA_ACTIONS && !env.FORGEJO_ACTIONS) {
    const job_instance = env.RUNNER_TRACKING_ID || env.RUNNER_NAME
    return { ci_system: 'github-actions', ci_system_name: 'GitHub Actions', job_instance }
  }
  return { ci_system: 'gitea-actions', ci_system_name: env.FORGEJO_ACTIONS ? 'Forgejo Actions' : 'Gitea Actions' }
}

/** The head of the pull request whose merge commit is built. */
function readHead(eventPath: string | undefined): string | undefined {
  try {
    return JSON.parse(readFileSync(eventPath ?? '', 'utf8')).pull_request?.head?.sha
  } catch {
    return undefined
  }
}

const GITHUB_EVENTS: Record<string, CiEvent> = {
  push: 'push',
  pull_request: 'pull_request',
  pull_request_target: 'pull_request',
  schedule: 'schedule',
  workflow_dispatch: 'manual',
}

/**
 * https://docs.gitlab.com/ci/variables/predefined_variables/. A pipeline has no attempts: its jobs
 * are retried inside of the same pipeline.
 */
export function readGitLab(env: NodeJS.ProcessEnv): CiFields {
  return {
    ci_system: 'gitlab-ci',
    ci_system_name: 'GitLab CI/CD',
    external_run_id: env.CI_PIPELINE_ID,
    ci_instance: formatServer(env.CI_SERVER_URL || env.CI_PROJECT_URL, 'host only'),
    repository: env.CI_PROJECT_URL,
    commit_sha: env.CI_COMMIT_SHA,
    head_sha: env.CI_MERGE_REQUEST_SOURCE_BRANCH_SHA,
    ref: refOf(env.CI_COMMIT_TAG, env.CI_COMMIT_REF_NAME),
    pipeline_name: env.CI_PIPELINE_NAME || env.CI_CONFIG_PATH || '.gitlab-ci.yml',
    job: env.CI_JOB_NAME,
    job_key: env.CI_JOB_NAME,
    job_instance: env.CI_JOB_ID,
    job_retries: env.CI_JOB_RETRY_COUNT,
    actor: env.GITLAB_USER_LOGIN,
    event:
      env.CI_COMMIT_TAG && env.CI_PIPELINE_SOURCE === 'push'
        ? 'tag'
        : eventNamed(env.CI_PIPELINE_SOURCE, GITLAB_EVENTS),
    url: env.CI_PIPELINE_URL,
  }
}

const GITLAB_EVENTS: Record<string, CiEvent> = {
  push: 'push',
  merge_request_event: 'pull_request',
  external_pull_request_event: 'pull_request',
  schedule: 'schedule',
  web: 'manual',
  webide: 'manual',
}

/**
 * https://support.atlassian.com/bitbucket-cloud/docs/variables-and-secrets/. A pipeline has no name
 * and no attempts. Custom pipelines, which may also be scheduled, are not told from pushes.
 */
export function readBitbucket(env: NodeJS.ProcessEnv): CiFields {
  const name = env.BITBUCKET_REPO_FULL_NAME
  const { BITBUCKET_TAG: tag, BITBUCKET_BRANCH: branch, BITBUCKET_PR_ID: pullRequest } = env
  return {
    ci_system: 'bitbucket-pipelines',
    ci_system_name: 'Bitbucket Pipelines',
    external_run_id:
      withoutBraces(env.BITBUCKET_PIPELINE_UUID) || (name && joinParts(name, env.BITBUCKET_BUILD_NUMBER)),
    ci_instance: normalizeUuid(env.BITBUCKET_REPO_UUID) || (name && `bitbucket.org/${name}`),
    repository: name && `https://bitbucket.org/${name}`,
    commit_sha: env.BITBUCKET_COMMIT,
    ref: refOf(tag, branch),
    pipeline_name: 'bitbucket-pipelines.yml',
    job: env.BITBUCKET_STEP_UUID && ['step', env.BITBUCKET_PARALLEL_STEP].filter(Boolean).join(' '),
    job_instance: normalizeUuid(env.BITBUCKET_STEP_UUID),
    job_retries: countRetries(env.BITBUCKET_STEP_RUN_NUMBER),
    actor: withoutBraces(env.BITBUCKET_STEP_TRIGGERER_UUID),
    event: pullRequest ? 'pull_request' : tag ? 'tag' : branch ? 'push' : 'other',
    url: name && `https://bitbucket.org/${name}/pipelines/results/${env.BITBUCKET_BUILD_NUMBER}`,
  }
}

function withoutBraces(uuid: string | undefined): string | undefined {
  return uuid?.replace(/^\{|\}$/g, '')
}

/**
 * https://learn.microsoft.com/azure/devops/pipelines/build/variables. Attempts are counted for
 * stages and jobs, and not for the run.
 */
export function readAzure(env: NodeJS.ProcessEnv): CiFields {
  const { SYSTEM_COLLECTIONURI: collection, SYSTEM_TEAMPROJECT: project, BUILD_BUILDID: id } = env
  const isTag = env.BUILD_SOURCEBRANCH?.startsWith('refs/tags/')
  return {
    ci_system: 'azure-pipelines',
    ci_system_name: 'Azure Pipelines',
    external_run_id: id,
    ci_instance: env.SYSTEM_COLLECTIONID?.toLowerCase() || formatServer(collection, 'with path'),
    repository: env.BUILD_REPOSITORY_URI,
    commit_sha: env.BUILD_SOURCEVERSION,
    head_sha: env.SYSTEM_PULLREQUEST_SOURCECOMMITID,
    ref: env.BUILD_SOURCEBRANCH,
    pipeline_name: env.BUILD_DEFINITIONNAME,
    job: env.SYSTEM_JOBDISPLAYNAME || env.AGENT_JOBNAME,
    job_key: joinParts(
      env.SYSTEM_STAGENAME,
      env.SYSTEM_PHASENAME,
      env.SYSTEM_JOBNAME,
      Number(env.SYSTEM_TOTALJOBSINPHASE) > 1 ? env.SYSTEM_JOBPOSITIONINPHASE : undefined,
    ),
    job_instance: env.SYSTEM_JOBID,
    job_retries: countRetries(env.SYSTEM_STAGEATTEMPT, env.SYSTEM_PHASEATTEMPT, env.SYSTEM_JOBATTEMPT),
    actor: env.BUILD_REQUESTEDFOR,
    event: isTag && /CI$/.test(env.BUILD_REASON ?? '') ? 'tag' : eventNamed(env.BUILD_REASON, AZURE_EVENTS),
    url: collection && project && `${collection}${encodeURIComponent(project)}/_build/results?buildId=${id}`,
  }
}

const AZURE_EVENTS: Record<string, CiEvent> = {
  IndividualCI: 'push',
  BatchedCI: 'push',
  PullRequest: 'pull_request',
  Schedule: 'schedule',
  Manual: 'manual',
}

import envCi from 'env-ci'
import { readBuildkite, readCircleCi, readDrone, readJenkins, readTeamCity, readTravis } from './build-servers.ts'
import { type CiFields, type CiJob, type CiReader, type Detected, withoutCredentials } from './ci-job.ts'
import { readAzure, readBitbucket, readGitHub, readGitLab } from './code-host-systems.ts'
import { shorten, shortHash } from './job-identity.ts'
import { readCodeBuild, readHarness, readSemaphore, readWoodpecker } from './other-systems.ts'

/** The readers by the name that `env-ci` has for a CI system. */
const READERS: Readonly<Record<string, CiReader>> = {
  github: readGitHub,
  gitlab: readGitLab,
  bitbucket: readBitbucket,
  azurePipelines: readAzure,
  jenkins: readJenkins,
  circleci: readCircleCi,
  buildkite: readBuildkite,
  teamcity: readTeamCity,
  drone: readDrone,
  travis: readTravis,
  semaphore: readSemaphore,
  woodpecker: readWoodpecker,
  codebuild: readCodeBuild,
}

/** The CI job in which the program runs; null outside of a CI, and where the CI names no run. */
export function detectCi(env: NodeJS.ProcessEnv, cwd = process.cwd()): CiJob | null {
  const detected = detect(env, cwd)
  if (detected?.service === undefined) return null
  const reader = env.HARNESS_BUILD_ID ? readHarness : (READERS[detected.service] ?? readOther)
  return checkFields(reader(env, detected))
}

/** `env-ci` throws if a file that the environment names does not exist. */
function detect(env: NodeJS.ProcessEnv, cwd: string): Detected | null {
  try {
    return envCi({ env: { ...markersOf(env), ...env }, cwd })
  } catch {
    return env.GITHUB_ACTIONS || env.GITEA_ACTIONS || env.FORGEJO_ACTIONS ? { service: 'github' } : null
  }
}

/**
 * `env-ci` looks at one variable of each CI system. Jenkins sets its URL only if an administrator
 * entered it. These variables are set, too.
 */
function markersOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isJenkins = env.JENKINS_HOME || env.BUILD_TAG?.startsWith('jenkins-')
  return {
    ...((env.GITEA_ACTIONS || env.FORGEJO_ACTIONS) && { GITHUB_ACTIONS: 'true' }),
    ...(env.HARNESS_BUILD_ID && { DRONE: 'true' }),
    ...(env.TF_BUILD && { BUILD_BUILDURI: env.TF_BUILD }),
    ...(env.BITBUCKET_PIPELINE_UUID && { BITBUCKET_BUILD_NUMBER: env.BITBUCKET_PIPELINE_UUID }),
    ...(isJenkins && { JENKINS_URL: 'unknown' }),
  }
}

/** A CI system that only `env-ci` knows. */
function readOther(_env: NodeJS.ProcessEnv, detected: Detected): CiFields {
  const { service = '', name, build, branch, prBranch, tag } = detected
  return {
    ci_system: service.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    ci_system_name: name,
    external_run_id: build && [detected.slug, build].filter(Boolean).join('/'),
    commit_sha: detected.commit,
    ref: tag ? `refs/tags/${tag}` : (prBranch ?? branch),
    event: detected.isPr ? 'pull_request' : 'other',
    url: detected.buildUrl,
  }
}

/** Makes what the API accepts of what the environment holds. */
function checkFields(fields: CiFields): CiJob | null {
  if (!fields.external_run_id) return null
  return {
    ci_system: fields.ci_system,
    ci_system_name: fields.ci_system_name || fields.ci_system,
    external_run_id: runId(fields.external_run_id),
    attempt: Number(fields.attempt) || 1,
    ci_instance: shorten(fields.ci_instance?.trim() ?? '', IDENTITY_MAX) || null,
    repository: fields.repository ? withoutCredentials(fields.repository) : null,
    commit_sha: commitOf(fields.commit_sha),
    head_sha: commitOf(fields.head_sha),
    ref: fields.ref?.slice(0, 255) || null,
    pipeline_name: fields.pipeline_name?.slice(0, 200) || null,
    job: fields.job?.slice(0, 100) || null,
    job_key: shorten(fields.job_key ?? '', IDENTITY_MAX) || null,
    job_instance: shorten(fields.job_instance ?? '', IDENTITY_MAX) || null,
    job_retries: retriesOf(fields.job_retries),
    actor: fields.actor?.slice(0, 200) || null,
    event: fields.event ?? 'other',
    url: URL.canParse(fields.url ?? '') ? (fields.url ?? null) : null,
  }
}

const IDENTITY_MAX = 200
const RETRIES_MAX = 999

function retriesOf(value: number | string | null | undefined): number | null {
  const text = String(value ?? '')
  return /^\d{1,6}$/.test(text) ? Math.min(Number(text), RETRIES_MAX) : null
}

const RUN_ID = /^[A-Za-z0-9._:/-]{1,128}$/

/** A hash keeps ids different whose characters the API does not allow. */
function runId(text: string): string {
  if (RUN_ID.test(text)) return text
  return `${text.replace(/[^A-Za-z0-9._:/-]/g, '-').slice(0, 128 - 13)}-${shortHash(text, 12)}`
}

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

function commitOf(text: string | undefined | null): string | null {
  return text && COMMIT.test(text) ? text : null
}

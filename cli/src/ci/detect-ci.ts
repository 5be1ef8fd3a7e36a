import { createHash } from 'node:crypto'
import envCi from 'env-ci'
import { readBuildkite, readCircleCi, readDrone, readJenkins, readTeamCity, readTravis } from './build-servers.ts'
import type { CiFields, CiJob, CiReader, Detected } from './ci-job.ts'
import { readAzure, readBitbucket, readGitHub, readGitLab } from './code-host-systems.ts'
import { withoutCredentials } from './git.ts'

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
}

/** The CI job in which the program runs; null outside of a CI, and where the CI names no run. */
export function detectCi(env: NodeJS.ProcessEnv, cwd = process.cwd()): CiJob | null {
  const detected = detect(env, cwd)
  if (detected?.service === undefined) return null
  const reader = READERS[detected.service] ?? readOther
  return checkFields(reader(env, detected))
}

/** `env-ci` throws if a file that the environment names does not exist. */
function detect(env: NodeJS.ProcessEnv, cwd: string): Detected | null {
  try {
    return envCi({ env: { ...markersOf(env), ...env }, cwd })
  } catch {
    return env.GITHUB_ACTIONS ? { service: 'github' } : null
  }
}

/**
 * `env-ci` looks at one variable of each CI system. Jenkins sets its URL only if an administrator
 * entered it. These variables are set, too.
 */
function markersOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isJenkins = env.JENKINS_HOME || env.BUILD_TAG?.startsWith('jenkins-')
  return {
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
    repository: fields.repository ? withoutCredentials(fields.repository) : null,
    commit_sha: commitOf(fields.commit_sha),
    ref: fields.ref?.slice(0, 255) || null,
    pipeline_name: fields.pipeline_name?.slice(0, 200) || null,
    job: fields.job?.slice(0, 100) || null,
    actor: fields.actor?.slice(0, 200) || null,
    event: fields.event ?? 'other',
    url: URL.canParse(fields.url ?? '') ? (fields.url ?? null) : null,
  }
}

const RUN_ID = /^[A-Za-z0-9._:/-]{1,128}$/

/** A hash keeps ids different whose characters the API does not allow. */
function runId(text: string): string {
  if (RUN_ID.test(text)) return text
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12)
  return `${text.replace(/[^A-Za-z0-9._:/-]/g, '-').slice(0, 128 - 13)}-${hash}`
}

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

function commitOf(text: string | undefined | null): string | null {
  return text && COMMIT.test(text) ? text : null
}

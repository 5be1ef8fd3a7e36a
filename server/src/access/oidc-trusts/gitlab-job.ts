import { CODE_HOSTS } from '../../codehosts/catalogue.ts'
import { type Claims, getClaimOfForm, getClaimStart, getClaimText, selectClaims } from './claims.ts'
import { isOnThisMachine } from './issuer.ts'
import {
  COMMIT_SHA,
  JOB_INSTANCE,
  NAME_CHARS_MAX,
  REF,
  RUN_ID,
  type TokenEvent,
  type TokenJob,
  toAddress,
} from './token-job.ts'

const KEPT = [
  'sub',
  'project_id',
  'project_path',
  'namespace_id',
  'namespace_path',
  'job_project_id',
  'job_project_path',
  'pipeline_id',
  'pipeline_source',
  'job_id',
  'sha',
  'ref',
  'ref_type',
  'ref_path',
  'ref_protected',
  'user_login',
  'user_id',
  'environment',
  'ci_config_ref_uri',
  'runner_environment',
] as const

/** Reads the claims of a GitLab CI/CD job (GitLab, "OIDC authentication using ID tokens"). */
export function readGitlabJob(claims: Claims, issuer: string): TokenJob | null {
  const pipelineId = getClaimOfForm(claims, 'pipeline_id', RUN_ID)
  const projectId = getClaimOfForm(claims, 'project_id', /^[1-9]\d{0,18}$/)
  if (pipelineId === null || projectId === null) return null
  const host = getHost(claims, issuer)
  const path = getClaimText(claims, 'project_path')
  const jobProject = toAddress(host, getClaimText(claims, 'job_project_path') ?? path)
  return {
    provider: 'gitlab',
    run: {
      ci_system: CODE_HOSTS.gitlab.ciSystem,
      ci_instance: isOnThisMachine(issuer) ? null : host,
      external_run_id: pipelineId,
      host_run_id: pipelineId,
      attempt: null,
    },
    repository: {
      id: projectId,
      owner_id: getClaimText(claims, 'namespace_id'),
      host: isOnThisMachine(issuer) ? null : host,
      address: toAddress(host, path),
    },
    instance: getClaimOfForm(claims, 'job_id', JOB_INSTANCE),
    commit_sha: getClaimOfForm(claims, 'sha', COMMIT_SHA),
    ref: getRef(claims),
    pipeline_name: null,
    run_number: null,
    event: classifyEvent(claims),
    actor: getClaimStart(claims, 'user_login', NAME_CHARS_MAX),
    environment: getClaimStart(claims, 'environment', NAME_CHARS_MAX),
    url: jobProject && `https://${jobProject}/-/pipelines/${pipelineId}`,
    foreign_code: foreignCode(claims, projectId),
    claims: selectClaims(claims, KEPT),
  }
}

/**
 * The host of the instance. The issuer is the address of the instance; `ci_config_ref_uri` is
 * `host/group/project//file@ref`, and counts for an issuer on this machine.
 */
function getHost(claims: Claims, issuer: string): string {
  if (!isOnThisMachine(issuer)) return new URL(issuer).host
  const path = getClaimText(claims, 'project_path') ?? ''
  const uri = getClaimText(claims, 'ci_config_ref_uri') ?? ''
  const end = uri.indexOf(`/${path}//`)
  return end > 0 && !uri.slice(0, end).includes('/') ? uri.slice(0, end) : 'gitlab.com'
}

/** `ref` is a short name. In a merge request pipeline it is the source branch. */
function getRef(claims: Claims): string | null {
  const name = getClaimText(claims, 'ref')
  if (name === null) return getClaimOfForm(claims, 'ref_path', REF)
  if (name.startsWith('refs/')) return getClaimOfForm(claims, 'ref', REF)
  const ref = `refs/${getClaimText(claims, 'ref_type') === 'tag' ? 'tags' : 'heads'}/${name}`
  return REF.test(ref) ? ref : null
}

const EVENTS = new Map<string, TokenEvent>([
  ['merge_request_event', 'pull_request'],
  ['external_pull_request_event', 'pull_request'],
  ['schedule', 'schedule'],
  ['web', 'manual'],
])

function classifyEvent(claims: Claims): TokenEvent {
  const source = getClaimText(claims, 'pipeline_source') ?? ''
  if (source === 'push') return getClaimText(claims, 'ref_type') === 'tag' ? 'tag' : 'push'
  return EVENTS.get(source) ?? 'other'
}

/**
 * `project_id` is the project of the code, `job_project_id` the one that runs it: they differ for
 * merge requests from forks. Older versions of GitLab have no `job_project_id`. Their `project_id`
 * may be the target of a merge request from a fork. An external pull request may come from one,
 * too.
 */
function foreignCode(claims: Claims, projectId: string): TokenJob['foreign_code'] {
  const jobProjectId = getClaimText(claims, 'job_project_id')
  const source = getClaimText(claims, 'pipeline_source')
  if (source === 'external_pull_request_event') return 'possible'
  const isOfMergeRequest = getClaimText(claims, 'ref_path')?.startsWith('refs/merge-requests/') ?? false
  if (jobProjectId === null)
    return source === 'merge_request_event' || isOfMergeRequest ? 'possible' : classifyRef(claims)
  if (jobProjectId !== projectId) return 'possible'
  return isOfMergeRequest ? 'none' : classifyRef(claims)
}

/**
 * A ref outside branches and tags is not the project's own. Older versions of GitLab leave it out.
 */
function classifyRef(claims: Claims): 'none' | 'possible' {
  const path = getClaimText(claims, 'ref_path')
  return path === null || /^refs\/(?:heads|tags)\/./.test(path) ? 'none' : 'possible'
}

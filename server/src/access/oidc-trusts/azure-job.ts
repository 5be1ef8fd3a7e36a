import { CODE_HOSTS, normalizeAddress } from '../../codehosts/catalogue.ts'
import { UUID_PATTERN } from '../../platform/ids.ts'
import { type Claims, getClaimOfForm, getClaimText, selectClaims } from './claims.ts'
import { isOnThisMachine } from './issuer.ts'
import { COMMIT_SHA, NAME_CHARS_MAX, REF, RUN_ID, type TokenEvent, type TokenJob, toAddress } from './token-job.ts'

const KEPT = ['sub', 'org_id', 'prj_id', 'def_id', 'rpo_id', 'rpo_uri', 'rpo_ver', 'rpo_ref', 'run_id'] as const

const GUID = new RegExp(UUID_PATTERN, 'i')

/**
 * Reads the claims of an Azure Pipelines job, whose token comes from `System.OidcRequestUri`.
 * `run_id` is the id of the build. Pipelines may build repositories of other code hosts: then
 * `rpo_id` and `rpo_uri` are those of the other host.
 */
export function readAzureJob(claims: Claims, issuer: string): TokenJob | null {
  const buildId = getClaimOfForm(claims, 'run_id', RUN_ID)
  const repositoryId = getClaimOfForm(claims, 'rpo_id', /^.{1,100}$/)
  if (buildId === null || repositoryId === null) return null
  const ref = getClaimOfForm(claims, 'rpo_ref', REF)
  const [, organization, project, pipeline] =
    /^p:\/\/([^/]+)\/([^/]+)\/(.+)$/.exec(getClaimText(claims, 'sub') ?? '') ?? []
  // The issuer of an organization is `https://vstoken.dev.azure.com/<GUID>`.
  const [, organizationId = ''] = new URL(issuer).pathname.split('/')
  // Several organizations of Azure DevOps have a build with this number.
  const projectId = getClaimOfForm(claims, 'prj_id', GUID)
  const isPullRequest = ref?.startsWith('refs/pull/') ?? false
  return {
    provider: 'azure',
    run: {
      ci_system: CODE_HOSTS.azure.ciSystem,
      ci_instance: isOnThisMachine(issuer) || !GUID.test(organizationId) ? null : organizationId.toLowerCase(),
      external_run_id: buildId,
      host_run_id: projectId && `${projectId.toLowerCase()}_${buildId}`,
      attempt: null,
    },
    repository: {
      id: repositoryId.toLowerCase(),
      owner_id: getClaimText(claims, 'org_id'),
      host: null,
      address: parseAddress(getClaimText(claims, 'rpo_uri') ?? ''),
    },
    // The token does not tell which job has it.
    instance: null,
    commit_sha: getClaimOfForm(claims, 'rpo_ver', COMMIT_SHA),
    ref,
    pipeline_name: pipeline?.slice(0, NAME_CHARS_MAX) ?? null,
    run_number: null,
    event: classifyEvent(ref, isPullRequest),
    actor: null,
    environment: null,
    url:
      organization && project
        ? `https://dev.azure.com/${encodeURI(organization)}/${encodeURI(project)}/_build/results?buildId=${buildId}`
        : null,
    // The token does not tell whether the pull request comes from a fork.
    foreign_code: isPullRequest ? 'pull_request' : 'none',
    claims: selectClaims(claims, KEPT),
  }
}

function classifyEvent(ref: string | null, isPullRequest: boolean): TokenEvent {
  if (isPullRequest) return 'pull_request'
  return ref?.startsWith('refs/tags/') ? 'tag' : 'other'
}

/** The repository of `https://dev.azure.com/organization/project/_git/name`, as runs name it. */
function parseAddress(uri: string): string | null {
  if (!URL.canParse(uri)) return null
  const { host, pathname } = new URL(uri)
  const address = toAddress(
    host,
    decodePath(pathname)
      .replace(/^\//, '')
      .replace(/(?:\.git)?\/?$/, ''),
  )
  return address && normalizeAddress(address)
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

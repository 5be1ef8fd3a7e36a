import { CODE_HOSTS } from '../../codehosts/catalogue.ts'
import { type Claims, getClaimOfForm, getClaimText, selectClaims } from './claims.ts'
import { normalizeUuid, REF, type TokenJob } from './token-job.ts'

const KEPT = [
  'sub',
  'repositoryUuid',
  'workspaceUuid',
  'pipelineUuid',
  'pipelineRunUuid',
  'stepUuid',
  'branchName',
  'deploymentEnvironmentUuid',
] as const

const UUID = /^(?:\{[0-9a-f-]{36}\}|[0-9a-f-]{36})$/i

/**
 * Reads the claims of a Bitbucket Pipelines step (Atlassian, "Integrate Pipelines with resource
 * servers using OIDC"). They have ids, but neither names nor the commit.
 */
export function readBitbucketJob(claims: Claims): TokenJob | null {
  const pipeline = getClaimOfForm(claims, 'pipelineUuid', UUID)
  const repository = getClaimOfForm(claims, 'repositoryUuid', UUID)
  if (pipeline === null || repository === null) return null
  const step = getClaimOfForm(claims, 'stepUuid', UUID)
  const workspace = getClaimOfForm(claims, 'workspaceUuid', UUID)
  const branch = getClaimText(claims, 'branchName')
  const ref = branch && `refs/heads/${branch}`
  return {
    provider: 'bitbucket',
    run: {
      ci_system: CODE_HOSTS.bitbucket.ciSystem,
      ci_instance: normalizeUuid(repository),
      external_run_id: normalizeUuid(pipeline),
      host_run_id: normalizeUuid(pipeline),
      attempt: null,
    },
    repository: {
      id: normalizeUuid(repository),
      owner_id: workspace && normalizeUuid(workspace),
      host: null,
      address: null,
    },
    instance: step && normalizeUuid(step),
    commit_sha: null,
    ref: ref !== null && REF.test(ref) ? ref : null,
    pipeline_name: null,
    run_number: null,
    event: 'other',
    actor: null,
    environment: null,
    url: null,
    // Pull requests from forks do not run in the pipelines of the target.
    foreign_code: 'none',
    claims: selectClaims(claims, KEPT),
  }
}

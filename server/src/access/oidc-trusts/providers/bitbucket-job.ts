import { type Claims, claimOfForm, claimText, keptClaims } from '../claims.ts'
import type { TokenJob } from '../token-job.ts'
import { bareUuid, REF } from './job-forms.ts'

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
  const pipeline = claimOfForm(claims, 'pipelineUuid', UUID)
  const repository = claimOfForm(claims, 'repositoryUuid', UUID)
  if (pipeline === null || repository === null) return null
  const workspace = claimOfForm(claims, 'workspaceUuid', UUID)
  return {
    provider: 'bitbucket',
    run: {
      ci_system: 'bitbucket-pipelines',
      external_run_id: bareUuid(pipeline),
      host_run_id: bareUuid(pipeline),
      attempt: null,
    },
    repository: { id: bareUuid(repository), owner_id: workspace && bareUuid(workspace), host: null, address: null },
    commit_sha: null,
    ref: refOf(claimText(claims, 'branchName')),
    pipeline_name: null,
    run_number: null,
    event: 'other',
    actor: null,
    environment: null,
    url: null,
    // Pull requests from forks do not run in the pipelines of the target.
    foreign_code: 'none',
    claims: keptClaims(claims, KEPT),
  }
}

function refOf(branch: string | null): string | null {
  const ref = branch && `refs/heads/${branch}`
  return ref !== null && REF.test(ref) ? ref : null
}

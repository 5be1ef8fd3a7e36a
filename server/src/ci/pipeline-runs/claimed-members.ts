import type { TrustProvider } from '../../access/oidc-trusts/token-job.ts'

/** The claims that a run has been created from, and who issued them. */
export type RunClaims = { provider: TrustProvider; claims: Readonly<Record<string, string>> }

type Members = {
  github_run_id: number | null
  workflow_path: string | null
  repository_id: number | null
  repository_owner_id: number | null
  run_number: number | null
}

/**
 * The fields of a pipeline run that only the claims of its token give. Ids that are not numbers,
 * such as UUIDs, are null.
 */
export function claimedMembers({ provider, claims }: RunClaims): Members {
  const isGithub = provider === 'github'
  return {
    github_run_id: isGithub ? wholeNumber(claims.run_id) : null,
    workflow_path: isGithub ? workflowPath(claims) : null,
    repository_id: wholeNumber(isGithub ? claims.repository_id : claims.project_id),
    repository_owner_id: wholeNumber(isGithub ? claims.repository_owner_id : claims.namespace_id),
    run_number: wholeNumber(claims.run_number),
  }
}

/** `owner/name/.github/workflows/ci.yml@refs/heads/main` without the repository and the ref. */
function workflowPath({ workflow_ref = '', repository = '' }: RunClaims['claims']): string | null {
  const end = workflow_ref.search(/@(?:refs\/|[0-9a-f]{40}$)/)
  return end > 0 && workflow_ref.startsWith(`${repository}/`) ? workflow_ref.slice(repository.length + 1, end) : null
}

function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null
}

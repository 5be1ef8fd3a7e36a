import type { ClaimedRun } from '../runs/run-row.store.ts'

/** The members of a pipeline run that the claims of its token give; the others are null. */
export function getClaimedMembers({ provider, repository_id, claims }: Omit<ClaimedRun, 'host'>) {
  const ownerId = provider === 'gitlab' ? claims.namespace_id : claims.repository_owner_id
  return {
    github_run_id: provider === 'github' ? toInteger(claims.run_id) : null,
    workflow_path: provider === 'gitlab' ? gitlabPath(claims) : githubPath(claims),
    repository_id: toInteger(repository_id),
    repository_owner_id: toInteger(ownerId),
    run_number: toInteger(claims.run_number),
    azure: provider === 'azure' ? toAzure(repository_id, claims) : null,
  }
}

/** Ids that are not numbers, such as UUIDs, are null. */
function toInteger(text = ''): number | null {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? value : null
}

/** `owner/name/path@ref` */
function githubPath({ workflow_ref = '' }: ClaimedRun['claims']): string | null {
  return /^[^/]+\/[^/]+\/(.+?)@/.exec(workflow_ref)?.[1] ?? null
}

/** `host/group/project//path@ref`. The configuration can be in another project. */
function gitlabPath({ ci_config_ref_uri = '', project_path = '' }: ClaimedRun['claims']): string | null {
  const [address = '', ref] = ci_config_ref_uri.split('@')
  if (ref === undefined) return null
  const [, project, path = null] = /^[^/]+\/(.+?)\/\/(.+)/s.exec(address) ?? []
  return project === project_path ? path : null
}

/** The subject of a pipeline is `p://organization/project/pipeline`. */
function toAzure(repositoryId: string, { sub = '', prj_id = '' }: ClaimedRun['claims']) {
  return {
    orgName: /^p:\/\/([^/]+)\//.exec(sub)?.[1] ?? null,
    projectId: prj_id || null,
    repositoryId,
    repositoryType: null,
    result: null,
  }
}

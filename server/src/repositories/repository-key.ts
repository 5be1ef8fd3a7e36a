import { type Static, Type } from 'typebox'

/** A repository of a code host, as an organization sees it. Jobs have it as their payload. */
export const RepositoryKey = Type.Object({
  org_id: Type.String(),
  provider: Type.String(),
  repository_id: Type.String(),
})
export type RepositoryKey = Static<typeof RepositoryKey>

/** Names a repository in locks and in the keys of jobs. */
export function repositoryKeyText({ org_id, provider, repository_id }: RepositoryKey): string {
  return `${org_id} ${provider} ${repository_id}`
}

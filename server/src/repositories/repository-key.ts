import { definePayload, text } from '../platform/queue/payload.ts'

/** A repository of a code host, as an organization sees it. Jobs have it as their payload. */
export type RepositoryKey = { org_id: string; provider: string; repository_id: string }

/** The payload of a job for a repository. */
export const REPOSITORY_KEY = definePayload({ org_id: text, provider: text, repository_id: text })

/** Names a repository in locks and in the keys of jobs. */
export function formatRepositoryKey({ org_id, provider, repository_id }: RepositoryKey): string {
  return `${org_id} ${provider} ${repository_id}`
}

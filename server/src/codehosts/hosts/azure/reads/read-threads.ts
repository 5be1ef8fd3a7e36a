import type { HostRepository } from '../../../host-repository.ts'
import { restPath } from '../../../kit/rest-client.ts'
import type { AzureApi } from '../client.ts'
import { parseThread, type Thread } from '../reviews.ts'

/** The path of a pull request; null if its repository cannot be read. */
export async function pullRequestPath(api: AzureApi, { id }: HostRepository, number: number): Promise<string | null> {
  const project = await api.projectOf({ id })
  return project && restPath`/${project}/_apis/git/repositories/${id}/pullRequests/${number}`
}

/**
 * The threads of a pull request. Azure DevOps adds one for each vote, push and change of its state.
 */
export async function readThreads(api: AzureApi, repository: HostRepository, number: number): Promise<Thread[]> {
  const path = await pullRequestPath(api, repository, number)
  return path === null ? [] : api.readAll({ path: `${path}/threads` }, parseThread)
}

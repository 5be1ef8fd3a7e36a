import { Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostPullRequest } from '../../host-change.ts'
import type { HostAccount, HostRepository } from '../../host-repository.ts'
import { readAs } from '../../kit/payload.ts'
import type { GithubApi } from '../client/github-api.ts'
import { parsePullRequest } from '../objects/pull-request.parser.ts'
import { isMergeQueue } from '../objects/repository.parser.ts'
import { ACCOUNT_FIELDS, GraphAccount, graphAccountOf } from './graph-account.ts'

export const PULL_REQUESTS = 'GET /repos/{owner}/{repo}/pulls'

/** GitHub's list does not say who merged a pull request. One query adds that for a whole page. */
export function listPullRequests(api: GithubApi): HostReader['listPullRequests'] {
  return async (repository, options) => {
    const parameters = { repository, state: 'all', sort: 'updated', direction: 'desc' }
    const page = await api.readPage(PULL_REQUESTS, parameters, options, (pull) => parsePullRequest(pull, repository))
    if (page === 'not_modified') return page
    const merged = page.items.filter(({ state }) => state === 'merged')
    const mergers = await queryMergers(api, repository, merged)
    const complete = (pull: HostPullRequest) => withMerger(api, pull, mergers)
    return { ...page, items: await Promise.all(page.items.map(complete)) }
  }
}

type Mergers = ReadonlyMap<number, HostAccount | null>

async function withMerger(api: GithubApi, pull: HostPullRequest, mergers: Mergers): Promise<HostPullRequest> {
  if (pull.state !== 'merged') return pull
  const merger = mergers.get(pull.number)
  if (merger !== undefined) return { ...pull, merged_by: merger, merged_by_queue: isMergeQueue(merger?.login) }
  return (await readPullRequest(api, pull.repository, pull.number)) ?? pull
}

export async function readPullRequest(
  api: GithubApi,
  repository: HostRepository,
  number: number,
): Promise<HostPullRequest | null> {
  const pull = await api.read(`${PULL_REQUESTS}/{pull_number}`, { repository, pull_number: number })
  return pull && parsePullRequest(pull, repository)
}

const Merged = Type.Object({ mergedBy: Type.Union([GraphAccount, Type.Null()]) })

/** Has no entry for pull requests that could not be read, and none at all if GraphQL is refused. */
async function queryMergers(
  api: GithubApi,
  repository: HostRepository,
  pulls: readonly HostPullRequest[],
): Promise<Mergers> {
  if (pulls.length === 0) return new Map()
  const fields = pulls.map(
    ({ number }) => `p${number}: pullRequest(number: ${number}) { mergedBy { ${ACCOUNT_FIELDS} } }`,
  )
  const found = await api.queryRepository(repository, fields, {})
  return new Map(
    pulls.flatMap(({ number }): [number, HostAccount | null][] => {
      const pull = found?.[`p${number}`]
      // The names of accounts are left out, because webhooks do not contain them.
      return pull ? [[number, withoutName(graphAccountOf(readAs(Merged, pull).mergedBy))]] : []
    }),
  )
}

function withoutName(account: HostAccount | null): HostAccount | null {
  return account && { ...account, name: null }
}

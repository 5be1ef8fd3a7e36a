import { Type } from 'typebox'
import type { HostReader } from '../../../code-host.ts'
import type { ToldPush } from '../../../host-change.ts'
import type { HostRepository } from '../../../host-repository.ts'
import { Maybe, readAs, Text } from '../../../kit/payload.ts'
import { restPath } from '../../../kit/rest-client.ts'
import { type AzureApi, valuesOf } from '../client.ts'
import { parsePush } from '../objects/push.parser.ts'
import { LISTED } from './run-reads.ts'

const PAGE_ITEMS = 50
const OFFSET = /^\d{1,7}$/

/** `next` is the number of pushes that were listed before. */
export function listPushes(api: AzureApi): HostReader['listPushes'] {
  return async (repository, branch, { since, next }) => {
    const project = await api.projectOf(repository)
    const skip = OFFSET.test(next ?? '') ? Number(next) : 0
    const query = {
      'searchCriteria.refName': `refs/heads/${branch}`,
      'searchCriteria.includeRefUpdates': true,
      'searchCriteria.fromDate': since?.toISOString(),
      $top: PAGE_ITEMS,
      $skip: skip,
    }
    const path = project && restPath`/${project}/_apis/git/repositories/${repository.id}/pushes`
    const body = path && (await api.read({ path, query }))
    if (!project || !body) return { items: [], next: null, etag: null }
    const values = valuesOf(body)
    const pushes = api
      .parseItems(values, (value) => ({ refs: parsePush(value) }))
      .flatMap(({ refs }) => refs.filter(({ ref }) => ref === `refs/heads/${branch}`))
      .map((push): ToldPush => ({ ...push, repository, commits: [] }))
    const items = await withoutMerges(api, project, repository, pushes)
    return { items, next: values.length < PAGE_ITEMS ? null : String(skip + PAGE_ITEMS), etag: LISTED }
  }
}

/** The merge of a pull request is a push too, which the list of pull requests contains. */
async function withoutMerges(
  api: AzureApi,
  project: string,
  repository: HostRepository,
  pushes: ToldPush[],
): Promise<ToldPush[]> {
  const merges = await findMerges(
    api,
    project,
    repository,
    pushes.flatMap(({ after }) => after ?? []),
  )
  return pushes.filter(({ after }) => after === null || !merges.has(after))
}

const Results = Type.Object({
  results: Maybe(Type.Array(Type.Record(Type.String(), Type.Array(Type.Unknown())))),
})
const Merged = Type.Object({ pullRequestId: Type.Integer(), status: Maybe(Text) })

/** The numbers of the pull requests whose merges created these commits. */
export async function findMerges(
  api: AzureApi,
  project: string,
  { id }: HostRepository,
  commits: readonly string[],
): Promise<Map<string, number>> {
  if (commits.length === 0) return new Map()
  const body = await api.read({
    method: 'POST',
    path: restPath`/${project}/_apis/git/repositories/${id}/pullrequestquery`,
    body: { queries: [{ type: 'lastMergeCommit', items: commits }] },
  })
  const results = body === null ? [] : (readAs(Results, body).results ?? [])
  const found = results.flatMap((result) => Object.entries(result))
  return new Map(
    found.flatMap(([sha, pulls]) =>
      pulls
        .map((pull) => readAs(Merged, pull))
        .filter(({ status }) => status === 'completed')
        .map(({ pullRequestId }): [string, number] => [sha, pullRequestId]),
    ),
  )
}

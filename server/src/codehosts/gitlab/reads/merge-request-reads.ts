import { Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostPullRequest } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Maybe, readAs, Text } from '../../kit/payload.ts'
import { restPath } from '../../kit/rest-client.ts'
import { projectPath, type Session } from '../client/session.ts'
import { parseMergeRequest, parseNote, pullRequestOf, reviewsOf } from '../objects/merge-request.parser.ts'

type MergeRequestReads = Pick<HostReader, 'listPullRequests' | 'readPullRequest' | 'listReviews' | 'listChangedFiles'>

/** Each merge request of the list is read, because the list does not contain its base. */
const MERGE_REQUESTS_AT_ONCE = 20

export function mergeRequestReads(session: Session): MergeRequestReads {
  const { api } = session
  const read = async (repository: HostRepository, number: number): Promise<HostPullRequest | null> => {
    const found = await api.read(requestPath(repository, number))
    const request = found && parseMergeRequest(found)
    if (!request) return null
    const byTrain = request.state === 'merged' && (await wasMergedByTrain(session, repository, number))
    return pullRequestOf(request, repository, byTrain)
  }
  return {
    async listPullRequests(repository, options) {
      const path = `${projectPath(repository)}/merge_requests`
      const query = { scope: 'all', state: 'all', order_by: 'updated_at', sort: 'desc' }
      const request = { path, query, options, pageItems: MERGE_REQUESTS_AT_ONCE }
      const page = await api.readPage(request, parseMergeRequest)
      if (page === 'not_modified') return page
      const items = await Promise.all(page.items.map(({ iid }) => read(repository, iid)))
      return { ...page, items: items.filter((item) => item !== null) }
    },

    readPullRequest: read,

    async listReviews(repository, number) {
      const path = requestPath(repository, number)
      const approvals = await api.read(`${path}/approvals`)
      if (approvals === null) return []
      const notes = await api.readAll(`${path}/notes`, { order_by: 'created_at', sort: 'asc' }, parseNote)
      return reviewsOf(approvals, notes, { repository, pull_request: number })
    },

    /** GitLab states the number of changed files, or with a `+` that it stopped to count. */
    async listChangedFiles(repository, number) {
      const path = requestPath(repository, number)
      const values = await api.readList(`${path}/diffs`)
      const found = await api.read(path)
      if (values === null || found === null) return null
      const paths = api.parseItems(values, parseChangedFile)
      const count = Number(parseMergeRequest(found).changes_count ?? Number.NaN)
      return { paths: [...new Set(paths.flat())], complete: paths.length === values.length && paths.length === count }
    },
  }
}

const Diff = Type.Object({ old_path: Text, new_path: Text })

/** The path of a file, and the former one of a moved file. */
function parseChangedFile(value: unknown): string[] {
  const { old_path, new_path } = readAs(Diff, value)
  return [...new Set([new_path, old_path])]
}

const Car = Type.Object({ status: Maybe(Text) })

/** False where the edition has no merge trains, or the project does not use them. */
async function wasMergedByTrain(session: Session, repository: HostRepository, number: number): Promise<boolean> {
  const { merge_trains: isUsed } = await session.settings(repository)
  if (!isUsed) return false
  const car = await session.api.read(`${projectPath(repository)}${restPath`/merge_trains/merge_requests/${number}`}`)
  return car !== null && readAs(Car, car).status === 'merged'
}

function requestPath(repository: HostRepository, number: number): string {
  return `${projectPath(repository)}${restPath`/merge_requests/${number}`}`
}

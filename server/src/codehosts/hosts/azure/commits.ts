import { type Static, Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostChangeCommit, ToldPush } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import { NO_ACCESS } from '../../kit/pages.ts'
import { Maybe, parseText, readAs, Text } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { createCheckReads } from './checks.ts'
import { type AzureApi, Identity, LISTED, parseAccount, parseSha, parseTime, parseValues, Time } from './client.ts'
import { toPullRequestName } from './runs.ts'

type CommitReads = Pick<HostReader, 'readCommits' | 'readBranchHead' | 'compareCommits' | 'listChecks'>

const COMPARED_MAX = 10_000
const PAGE_COMMITS = 500

export function createCommitReads(api: AzureApi): CommitReads {
  return {
    async readCommits(repository, named) {
      const project = await api.fetchProject(repository)
      const shas = [...new Set(named.map(({ sha }) => sha))]
      if (project === null || shas.length === 0) return []
      const commits = await fetchBatch(api, project, repository, shas)
      const merges = await fetchMerges(api, project, repository, shas)
      return commits.map(({ commitId, comment }) => {
        const merged = merges.get(commitId)
        return {
          sha: commitId,
          message: comment || null,
          // Azure DevOps does not match the authors of commits with accounts.
          author: null,
          merged_pull_request: merged === undefined ? null : toPullRequestName(repository, merged),
          workflow_blob: null,
        }
      })
    },

    async readBranchHead(repository, branch) {
      const path = await api.fetchRepositoryPath(repository)
      const filter = `heads/${branch}`
      const refs =
        path === null
          ? []
          : await api.fetchAll({ path: `${path}/refs`, query: { filter } }, (value) => readAs(Ref, value))
      // The filter is a prefix.
      return refs.find(({ name }) => name === `refs/${filter}`)?.objectId ?? null
    },

    /** The newest commit comes first. */
    async compareCommits(repository, base, head) {
      if (base === head) return { commits: [], complete: true }
      const project = await api.fetchProject(repository)
      const found = project && (await fetchRange(api, project, repository, { base, head }))
      if (!found) return null
      // The range of a comparison begins at its head. Anything else would be another range.
      if (found.commits.length > 0 && found.commits[0]?.commitId !== head) return null
      return { commits: found.commits.map(toChangeCommit).reverse(), complete: found.complete }
    },

    ...createCheckReads(api),
  }
}

const Ref = Type.Object({ name: Text, objectId: Text })

async function fetchBatch(
  api: AzureApi,
  project: string,
  repository: HostRepository,
  ids: readonly string[],
): Promise<Commit[]> {
  const repositoryPath = encodePath`/${project}/_apis/git/repositories/${repository.id}`
  const body = await api.fetch({ method: 'POST', path: `${repositoryPath}/commitsbatch`, body: { ids } })
  const commits = body === null ? [] : api.parseItems(parseValues(body), parseCommit)
  return Promise.all(commits.map((commit) => fetchWhole(api, repositoryPath, commit)))
}

/** Lists cut long messages. */
async function fetchWhole(api: AzureApi, repositoryPath: string, commit: Commit): Promise<Commit> {
  if (!commit.commentTruncated) return commit
  const read = await api.fetch({ path: repositoryPath + encodePath`/commits/${commit.commitId}` })
  return read === null ? commit : parseCommit(read)
}

/** The commits that `head` has and `base` has not, newest first. */
async function fetchRange(
  api: AzureApi,
  project: string,
  { id }: HostRepository,
  { base, head }: { base: string; head: string },
): Promise<{ commits: Commit[]; complete: boolean } | null> {
  const repositoryPath = encodePath`/${project}/_apis/git/repositories/${id}`
  const criteria = {
    itemVersion: { versionType: 'commit', version: base },
    compareVersion: { versionType: 'commit', version: head },
  }
  const commits: Commit[] = []
  for (;;) {
    const query = { $top: PAGE_COMMITS, $skip: commits.length }
    const request = { method: 'POST', path: `${repositoryPath}/commitsbatch`, query, body: criteria } as const
    const body = await api.fetch(request)
    if (body === null) return null
    const values = parseValues(body)
    const read = await Promise.all(values.map((value) => fetchWhole(api, repositoryPath, parseCommit(value))))
    commits.push(...read)
    const isLast = values.length < PAGE_COMMITS
    if (isLast || commits.length >= COMPARED_MAX) return { commits, complete: isLast }
  }
}

const PAGE_PUSHES = 50
const OFFSET = /^\d{1,7}$/

/** `next` is the number of pushes that were listed before. */
export function listPushes(api: AzureApi): HostReader['listPushes'] {
  return async (repository, branch, { since, next }) => {
    const project = await api.fetchProject(repository)
    const skip = OFFSET.test(next ?? '') ? Number(next) : 0
    const query = {
      'searchCriteria.refName': `refs/heads/${branch}`,
      'searchCriteria.includeRefUpdates': true,
      'searchCriteria.fromDate': since?.toISOString(),
      $top: PAGE_PUSHES,
      $skip: skip,
    }
    const path = project && encodePath`/${project}/_apis/git/repositories/${repository.id}/pushes`
    const body = path && (await api.fetch({ path, query }))
    if (!project || !body) return NO_ACCESS
    const values = parseValues(body)
    const pushes = api
      .parseItems(values, (value) => ({ refs: parseRefPushes(readAs(Push, value)) }))
      .flatMap(({ refs }) => refs.filter(({ ref }) => ref === `refs/heads/${branch}`))
      .map((push): ToldPush => ({ ...push, repository, commits: [] }))
    const heads = pushes.flatMap(({ after }) => after ?? [])
    const merges = await fetchMerges(api, project, repository, heads)
    // The merge of a pull request is a push too, which the list of pull requests contains.
    const items = pushes.filter(({ after }) => after === null || !merges.has(after))
    return { items, next: values.length < PAGE_PUSHES ? null : String(skip + PAGE_PUSHES), etag: LISTED }
  }
}

const Results = Type.Object({
  results: Maybe(Type.Array(Type.Record(Type.String(), Type.Array(Type.Unknown())))),
})
const Merged = Type.Object({ pullRequestId: Type.Integer(), status: Maybe(Text) })

/** The numbers of the pull requests whose merges created these commits. */
async function fetchMerges(
  api: AzureApi,
  project: string,
  { id }: HostRepository,
  commits: readonly string[],
): Promise<Map<string, number>> {
  if (commits.length === 0) return new Map()
  const body = await api.fetch({
    method: 'POST',
    path: encodePath`/${project}/_apis/git/repositories/${id}/pullrequestquery`,
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

/** Name and address as the commit has them. Azure DevOps does not match them with accounts. */
const Person = Type.Object({ name: Maybe(Text), email: Maybe(Text) })

const Commit = Type.Object({
  commitId: Text,
  comment: Maybe(Text),
  commentTruncated: Maybe(Type.Boolean()),
  author: Maybe(Person),
  committer: Maybe(Person),
})
type Commit = Static<typeof Commit>

export function parseCommit(value: unknown): Commit {
  return readAs(Commit, value)
}

/** Azure DevOps does not check signatures. */
export function toChangeCommit({ commitId, comment, author, committer }: Commit): HostChangeCommit {
  return {
    sha: commitId,
    message: parseText(comment) ?? '',
    author: parsePerson(author),
    committer: parsePerson(committer),
    signature: null,
  }
}

function parsePerson(person: Static<typeof Person> | null | undefined): HostChangeCommit['author'] {
  return { name: parseText(person?.name) ?? '', email: parseText(person?.email), id: null, login: null }
}

/** A push, in lists and in the event `git.push`. It can change several refs. */
export const Push = Type.Object({
  date: Time,
  pushedBy: Maybe(Identity),
  refUpdates: Maybe(Type.Array(Type.Object({ name: Maybe(Text), oldObjectId: Maybe(Text), newObjectId: Maybe(Text) }))),
})

type RefPush = Omit<ToldPush, 'repository' | 'commits'>

/** What a push did to each branch and tag. Whether it was forced is not part of it. */
export function parseRefPushes({ date, pushedBy, refUpdates }: Static<typeof Push>): RefPush[] {
  return (refUpdates ?? []).flatMap(({ name, oldObjectId, newObjectId }) =>
    name && /^refs\/(?:heads|tags)\//.test(name)
      ? {
          ref: name,
          before: parseSha(oldObjectId),
          after: parseSha(newObjectId),
          forced: null,
          pusher: parseAccount(pushedBy),
          by_merge_queue: false,
          pushed_at: parseTime(date) ?? new Date(0),
        }
      : [],
  )
}

import { DAY_MS } from '../../../platform/clock.ts'
import type { HostReader, ListOptions, ListResult } from '../../code-host.ts'
import type { ToldPush } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import { projectPath, type Session } from '../client/session.ts'
import { parseCommitStatus } from '../objects/check.parser.ts'
import { parsePushEvent } from '../objects/push.parser.ts'
import { commitPath, readMergeRequestOf } from './commit-reads.ts'
import { compareCommits, listPullRequestCommits } from './list-commits.ts'
import { readBranchRules } from './read-branch-rules.ts'
import { readCodeOwners } from './read-code-owners.ts'

type ChangeReads = Pick<
  HostReader,
  'listPushes' | 'listChecks' | 'listPullRequestCommits' | 'compareCommits' | 'readBranchRules' | 'readCodeOwners'
>

export function changeReads(session: Session): ChangeReads {
  const { api } = session
  return {
    listPushes: (repository, branch, options) => listPushes(session, repository, { branch, options }),
    /** The newest job or status under each name. */
    listChecks: (repository, commitSha) =>
      api.readAll(`${commitPath(repository, commitSha)}/statuses`, {}, (status) =>
        parseCommitStatus(status, repository, commitSha),
      ),
    listPullRequestCommits: listPullRequestCommits(api),
    compareCommits: compareCommits(api),
    readBranchRules: readBranchRules(session),
    readCodeOwners: readCodeOwners(session),
  }
}

/** GitLab keeps events for years. Older pushes are not imported anyway. */
const PUSHES_MS = 91 * DAY_MS

/** GitLab lists the pushes to all branches, and the merge of a merge request as a push, too. */
async function listPushes(
  { api, clock }: Session,
  repository: HostRepository,
  { branch, options }: { branch: string; options: ListOptions },
): Promise<ListResult<ToldPush>> {
  const after = new Date(clock.now().getTime() - PUSHES_MS).toISOString().slice(0, 10)
  const request = { path: `${projectPath(repository)}/events`, query: { action: 'pushed', after }, options }
  const page = await api.readPage(request, (event) => parsePushEvent(event, repository))
  if (page === 'not_modified') return page
  const own = page.items.filter(({ ref }) => ref === `refs/heads/${branch}`)
  const merged = await Promise.all(
    own.map(({ after }) => (after === null ? null : readMergeRequestOf(api, repository, after))),
  )
  return { ...page, items: own.filter((_, at) => merged[at] === null) }
}

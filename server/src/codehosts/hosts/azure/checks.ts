import { Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostCheck, HostRunStatus } from '../../host-run.ts'
import { Id, Maybe, parseText, readAs, Text } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { type AzureApi, parseTime, Time } from './client.ts'
import { parseStatus } from './jobs.ts'
import { type Build, fetchBuildPage, parseCommitSha, parseWebUrl } from './runs.ts'

/** Builds cannot be listed by commit. Those of a commit are among the newest. */
const BUILDS_MAX = 200
const STATUSES_MAX = 1000

export function createCheckReads(api: AzureApi): Pick<HostReader, 'listChecks'> {
  return {
    /** The newest build of each pipeline, and the newest statuses of other services. */
    async listChecks(repository, commitSha) {
      const project = await api.fetchProject(repository)
      if (project === null) return []
      const path = encodePath`/${project}/_apis/git/repositories/${repository.id}/commits/${commitSha}/statuses`
      const statuses = await api.fetchAll({ path, query: { top: STATUSES_MAX, latestOnly: true } }, (status) =>
        parseCommitStatus(status, repository, commitSha),
      )
      return [...(await fetchBuildChecks(api, project, repository, commitSha)), ...statuses]
    },
  }
}

async function fetchBuildChecks(
  api: AzureApi,
  project: string,
  repository: HostRepository,
  commitSha: string,
): Promise<HostCheck[]> {
  const page = await fetchBuildPage(api, { repository, project, filter: { $top: BUILDS_MAX } })
  const builds = (page?.builds ?? []).filter((build) => parseCommitSha(build) === commitSha)
  const newest = new Map(builds.reverse().map((build) => [build.definition?.id, build]))
  return [...newest.values()].map((build) => toHostCheck(build, repository, commitSha))
}

const Status = Type.Object({
  id: Id,
  state: Maybe(Text),
  context: Maybe(Type.Object({ name: Maybe(Text), genre: Maybe(Text) })),
  targetUrl: Maybe(Text),
  creationDate: Maybe(Time),
  updatedDate: Maybe(Time),
})

/** How Azure Pipelines calls the statuses that it sets for its own builds. */
const OWN_GENRE = 'continuous-integration'
const PIPELINES = 'azure-pipelines'

/** A status of a commit. Null for that of a build of Azure Pipelines, which is a check itself. */
function parseCommitStatus(value: unknown, repository: HostRepository, commitSha: string): HostCheck | null {
  const { id, state, context, targetUrl, creationDate, updatedDate } = readAs(Status, value)
  const genre = parseText(context?.genre)
  if (genre === OWN_GENRE) return null
  const status = CHECK_STATES[state ?? ''] ?? 'queued'
  return {
    repository,
    commit_sha: commitSha,
    id: `status_${id}`,
    name: formatContextName(genre, context?.name),
    source: genre ?? 'commit_status',
    status,
    url: parseText(targetUrl),
    started_at: parseTime(creationDate),
    completed_at: status === 'queued' ? null : (parseTime(updatedDate) ?? parseTime(creationDate)),
  }
}

/** The name of a status with its genre, as policies of branches require it. */
export function formatContextName(genre: string | null | undefined, name: string | null | undefined): string {
  return [parseText(genre), parseText(name)].filter((part) => part !== null).join('/')
}

function toHostCheck(build: Build, repository: HostRepository, commitSha: string): HostCheck {
  const status = parseStatus(build.status, build.result)
  return {
    repository,
    commit_sha: commitSha,
    id: `build_${build.id}`,
    name: parseText(build.definition?.name) ?? String(build.definition?.id ?? build.id),
    source: PIPELINES,
    status,
    url: parseWebUrl(build),
    started_at: parseTime(build.startTime),
    completed_at: parseTime(build.finishTime),
  }
}

/** How the states of a status on a commit or pull request appear. */
const CHECK_STATES: Readonly<Record<string, HostRunStatus>> = {
  succeeded: 'success',
  pending: 'queued',
  notSet: 'queued',
  failed: 'failure',
  error: 'failure',
  notApplicable: 'skipped',
}

import { Type } from 'typebox'
import type { HostRepository } from '../../../host-repository.ts'
import type { HostCheck } from '../../../host-run.ts'
import { Id, Maybe, readAs, Text, textOrNull } from '../../../kit/payload.ts'
import { type Build, webUrlOf } from '../runs.ts'
import { Time, timeOrNull } from './fields.ts'
import { checkStatus, statusOf } from './run-words.ts'

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
export function parseStatus(value: unknown, repository: HostRepository, commitSha: string): HostCheck | null {
  const { id, state, context, targetUrl, creationDate, updatedDate } = readAs(Status, value)
  const genre = textOrNull(context?.genre)
  if (genre === OWN_GENRE) return null
  const status = checkStatus(state)
  return {
    repository,
    commit_sha: commitSha,
    id: `status_${id}`,
    name: contextName(genre, context?.name),
    source: genre ?? 'commit_status',
    status,
    url: textOrNull(targetUrl),
    started_at: timeOrNull(creationDate),
    completed_at: status === 'queued' ? null : (timeOrNull(updatedDate) ?? timeOrNull(creationDate)),
  }
}

/** The name of a status with its genre, as policies of branches require it. */
export function contextName(genre: string | null | undefined, name: string | null | undefined): string {
  return [textOrNull(genre), textOrNull(name)].filter((part) => part !== null).join('/')
}

export function checkOfBuild(build: Build, repository: HostRepository, commitSha: string): HostCheck {
  const status = statusOf(build.status, build.result)
  return {
    repository,
    commit_sha: commitSha,
    id: `build_${build.id}`,
    name: textOrNull(build.definition?.name) ?? String(build.definition?.id ?? build.id),
    source: PIPELINES,
    status,
    url: webUrlOf(build),
    started_at: timeOrNull(build.startTime),
    completed_at: timeOrNull(build.finishTime),
  }
}

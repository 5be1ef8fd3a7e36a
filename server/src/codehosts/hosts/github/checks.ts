import { type Static, Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostCheck, HostRunStatus } from '../../host-run.ts'
import { Id, Maybe, parseDate, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import type { GithubApi } from './client.ts'
import { parseStatus } from './runs.ts'

/** The newest check runs of Apps, and the newest statuses of other services. */
export function listChecks(api: GithubApi): HostReader['listChecks'] {
  return async (repository, commitSha) => {
    const parameters = { repository, ref: commitSha }
    const checks = await api.readAll(`${COMMIT}/check-runs`, parameters, (check) => parseCheck(check, repository))
    const combined = await api.read(`${COMMIT}/status`, { ...parameters, per_page: 100 })
    const { statuses } = combined === null ? { statuses: [] } : readAs(CombinedStatus, combined)
    return [...checks, ...api.parseItems(statuses, (status) => parseCommitStatus(status, repository, commitSha))]
  }
}

const COMMIT = 'GET /repos/{owner}/{repo}/commits/{ref}'

export const CheckRun = Type.Object({
  id: Id,
  name: Text,
  head_sha: Text,
  status: Maybe(Text),
  conclusion: Maybe(Text),
  html_url: Maybe(Text),
  details_url: Maybe(Text),
  started_at: Maybe(Timestamp),
  completed_at: Maybe(Timestamp),
  app: Maybe(Type.Object({ slug: Maybe(Text), name: Maybe(Text) })),
})

export function toHostCheck(check: Static<typeof CheckRun>, repository: HostRepository): HostCheck {
  return {
    repository,
    commit_sha: check.head_sha,
    id: String(check.id),
    name: check.name,
    source: parseText(check.app?.slug) ?? parseText(check.app?.name) ?? 'unknown',
    status: parseStatus(check.status, check.conclusion),
    url: parseText(check.html_url) ?? parseText(check.details_url),
    started_at: parseDate(check.started_at),
    completed_at: check.status === 'completed' ? parseDate(check.completed_at) : null,
  }
}

export function parseCheck(value: unknown, repository: HostRepository): HostCheck {
  return toHostCheck(readAs(CheckRun, value), repository)
}

/** The newest status of a commit under one context, which services that are no Apps report. */
const CommitStatus = Type.Object({
  id: Id,
  context: Text,
  state: Text,
  target_url: Maybe(Text),
  created_at: Maybe(Timestamp),
  updated_at: Maybe(Timestamp),
})

/** Ids of statuses and of check runs are counted separately. */
export function parseCommitStatus(value: unknown, repository: HostRepository, commitSha: string): HostCheck {
  const reported = readAs(CommitStatus, value)
  const status = parseCheckStatus(reported.state)
  return {
    repository,
    commit_sha: commitSha,
    id: `status_${reported.id}`,
    name: reported.context,
    source: 'commit_status',
    status,
    url: parseText(reported.target_url),
    started_at: parseDate(reported.created_at),
    completed_at: status === 'queued' ? null : parseDate(reported.updated_at),
  }
}

/** The states of a commit status, which other services report. */
const COMMIT_STATES: Readonly<Record<string, HostRunStatus>> = {
  success: 'success',
  pending: 'queued',
  failure: 'failure',
  error: 'failure',
}

export function parseCheckStatus(state: string): HostRunStatus {
  return COMMIT_STATES[state] ?? 'failure'
}

const CombinedStatus = Type.Object({ statuses: Type.Array(Type.Unknown()) })

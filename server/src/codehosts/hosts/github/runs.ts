import { type Static, Type } from 'typebox'
import type { HostReader, ListOptions, ListResult } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostPullRequestName, HostRun, HostRunStatus, TriggerKind } from '../../host-run.ts'
import { readRefusable } from '../../kit/pages.ts'
import { Id, Maybe, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { type GithubApi, PAGE_ITEMS, parseValues, type RawPage } from './client.ts'
import { Account, toHostAccount } from './repositories.ts'

export function createRunReads(api: GithubApi): Pick<HostReader, 'listRuns' | 'readRun'> {
  return {
    listRuns: (repository, options) => readRefusable(fetchRuns(api, repository, options)),

    async readRun(repository, runId, attempt) {
      const parameters = { repository, run_id: runId, attempt_number: attempt }
      const route = `GET /repos/{owner}/{repo}/actions/runs/{run_id}`
      const run = await api.read(attempt === undefined ? route : `${route}/attempts/{attempt_number}`, parameters)
      return run && parseRun(run, repository)
    },
  }
}

/** GitHub ends a list of runs here, and may not count further. */
const SEARCH_ITEMS_MAX = 1000

/**
 * Lists runs in windows of time. Where GitHub ends a list early, it is continued with the runs
 * created up to the last one; `next` holds that time (`until`) beside the page. Runs of the same
 * second are listed twice.
 */
async function fetchRuns(
  api: GithubApi,
  repository: HostRepository,
  options: ListOptions,
): Promise<ListResult<HostRun>> {
  const until = new URLSearchParams(options.next).get('until')
  const parameters = { repository, ...createdBetween(options.since, until) }
  const page = await api.requestPage('GET /repos/{owner}/{repo}/actions/runs', parameters, options)
  if (page === 'not_modified') return page
  const values = parseValues(page.data)
  const items = api.parseItems(values, (run) => parseRun(run, repository))
  return { items, next: formatNext(page, { until, values, items, next: options.next }), etag: page.etag }
}

function createdBetween(since: Date | undefined, until: string | null): { created?: string } {
  if (since === undefined && until === null) return {}
  if (until === null) return { created: `>=${formatSecond(since as Date)}` }
  return { created: since === undefined ? `<=${until}` : `${formatSecond(since)}..${until}` }
}

type Listed = { until: string | null; values: unknown[]; items: HostRun[]; next: string | undefined }

function formatNext(page: RawPage, { until, values, items, next }: Listed): string | null {
  if (page.next !== null) return withUntil(page.next, until)
  const total = Number((page.data as { total_count?: unknown }).total_count ?? 0)
  const listed = (Number(new URLSearchParams(next).get('page') ?? 1) - 1) * PAGE_ITEMS + values.length
  const oldest = items.at(-1)
  if (oldest === undefined || (listed >= total && listed < SEARCH_ITEMS_MAX)) return null
  const second = formatSecond(oldest.created_at)
  // The window has to move on: if all of its runs are of one second, to the second before.
  const last = second === until ? formatSecond(new Date(Date.parse(second) - 1000)) : second
  return withUntil('page=1', last)
}

function withUntil(page: string, until: string | null): string {
  return until === null ? page : `${page}&${new URLSearchParams({ until })}`
}

/** GitHub's times have no fractions of a second. */
function formatSecond(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z')
}

const PullRequestName = Type.Object({
  number: Id,
  base: Maybe(Type.Object({ repo: Maybe(Type.Object({ id: Id })) })),
})

export const WorkflowRun = Type.Object({
  id: Id,
  name: Maybe(Text),
  display_title: Maybe(Text),
  path: Maybe(Text),
  workflow_id: Id,
  run_number: Maybe(Id),
  run_attempt: Maybe(Id),
  status: Maybe(Text),
  conclusion: Maybe(Text),
  event: Text,
  head_branch: Maybe(Text),
  head_sha: Text,
  head_repository: Maybe(Type.Object({ id: Id })),
  head_commit: Maybe(Type.Object({ message: Maybe(Text) })),
  actor: Maybe(Account),
  triggering_actor: Maybe(Account),
  pull_requests: Maybe(Type.Array(PullRequestName)),
  html_url: Maybe(Text),
  created_at: Timestamp,
  run_started_at: Maybe(Timestamp),
  updated_at: Timestamp,
})

/** The workflow of a run. Only webhooks contain it. */
export const Workflow = Type.Object({ name: Maybe(Text), path: Maybe(Text) })

type RunObject = Static<typeof WorkflowRun>

export function toHostRun(
  run: RunObject,
  repository: HostRepository,
  workflow?: Static<typeof Workflow> | null,
): HostRun {
  const status = parseStatus(run.status, run.conclusion)
  const updatedAt = new Date(run.updated_at)
  const actor = toHostAccount(run.actor)
  // GitHub also lists pull requests of the same commit in forks.
  const own = (run.pull_requests ?? []).filter(({ base }) => String(base?.repo?.id ?? repository.id) === repository.id)
  return {
    repository,
    id: String(run.id),
    number: run.run_number ?? null,
    attempt: run.run_attempt || 1,
    workflow: parseWorkflow(run, workflow),
    status,
    ref: parseRef(run.event, run.head_branch),
    head_repository_id: headRepositoryId(run, repository),
    commit: { sha: run.head_sha, message: parseText(run.head_commit?.message) },
    event: run.event,
    kind: parseTriggerKind(run.event),
    release_name: run.event === 'release' ? parseText(run.display_title) : null,
    actor,
    triggering_actor: toHostAccount(run.triggering_actor) ?? actor,
    pull_requests: own.map(({ number }) => toPullRequestName(repository, number)),
    html_url: parseText(run.html_url),
    created_at: new Date(run.created_at),
    started_at: new Date(run.run_started_at ?? run.created_at),
    completed_at: status === 'queued' || status === 'in_progress' ? null : updatedAt,
    updated_at: updatedAt,
  }
}

/** A deleted fork has no id, so the head of a pull request may be in any repository. */
const UNKNOWN_REPOSITORY = 'unknown'

/** Older servers do not name the repository of the head. */
function headRepositoryId({ head_repository, event }: RunObject, repository: HostRepository): string {
  if (head_repository) return String(head_repository.id)
  return parseTriggerKind(event) === 'pull_request' ? UNKNOWN_REPOSITORY : repository.id
}

/** A path can end in the ref of the file: `.github/workflows/ci.yml@refs/heads/main`. */
function parseWorkflow(run: RunObject, workflow: Static<typeof Workflow> | null | undefined): HostRun['workflow'] {
  const path = parseText((run.path ?? workflow?.path)?.split('@')[0])
  const name = parseText(workflow?.name) ?? parseText(run.name)
  return { id: String(run.workflow_id), name: name ?? path ?? String(run.workflow_id), path }
}

export function toPullRequestName(repository: HostRepository, number: number): HostPullRequestName {
  return { number, url: repository.html_url && `${repository.html_url}/pull/${number}` }
}

export function parseRun(value: unknown, repository: HostRepository): HostRun {
  return toHostRun(readAs(WorkflowRun, value), repository)
}

/** How GitHub's conclusions appear in the seven statuses (providers.md §3). */
const CONCLUSIONS: Readonly<Record<string, HostRunStatus>> = {
  success: 'success',
  neutral: 'success',
  failure: 'failure',
  startup_failure: 'failure',
  cancelled: 'cancelled',
  action_required: 'cancelled',
  timed_out: 'timed_out',
  skipped: 'skipped',
  stale: 'skipped',
}

/**
 * The status of a run, job, step or check. Before the start, GitHub says `queued`, `requested`,
 * `waiting` or `pending`. A conclusion that we do not know is not a success.
 */
export function parseStatus(status: string | null | undefined, conclusion: string | null | undefined): HostRunStatus {
  if (status === 'completed') return CONCLUSIONS[conclusion ?? ''] ?? 'failure'
  return status === 'in_progress' ? 'in_progress' : 'queued'
}

/** A merge queue runs its checks for pull requests before they land. */
const KINDS: Readonly<Record<string, TriggerKind>> = {
  push: 'push',
  schedule: 'schedule',
  release: 'release',
  workflow_dispatch: 'manual',
  repository_dispatch: 'manual',
  workflow_run: 'workflow',
  workflow_call: 'workflow',
  merge_group: 'pull_request',
}

export function parseTriggerKind(event: string): TriggerKind {
  return KINDS[event] ?? (event.startsWith('pull_request') ? 'pull_request' : 'other')
}

/**
 * The full name of a run's ref. GitHub gives the short name only. That of a release is a tag. A
 * push or a manual start of a tag cannot be told from that of a branch with the same name, so it
 * is treated as a branch.
 */
export function parseRef(event: string, name: string | null | undefined): string | null {
  if (!name) return null
  if (name.startsWith('refs/')) return name
  return event === 'release' ? `refs/tags/${name}` : `refs/heads/${name}`
}

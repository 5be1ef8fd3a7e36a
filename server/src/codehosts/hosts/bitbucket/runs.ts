import { type Static, Type } from 'typebox'
import { isLoopback } from '../../../platform/loopback.ts'
import { type HostReader, truncatePage } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostJob, HostPullRequestName, HostRun, HostRunStatus, TriggerKind } from '../../host-run.ts'
import { fetchLogEnd, readEnd } from '../../kit/fetch-log-end.ts'
import { Id, Maybe, parseDate, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { type BitbucketApi, formatUuid, parseUuid } from './client.ts'
import { Account, parseAccount } from './repositories.ts'

type RunReads = Pick<HostReader, 'listRuns' | 'readRun' | 'listJobs' | 'listAnnotations' | 'readJobLog'>

export function createRunReads(api: BitbucketApi): RunReads {
  return {
    async listRuns(repository, options) {
      const list = { path: api.repositoryPath(repository, '/pipelines'), query: { sort: '-created_on' } }
      const page = await api.fetchPage(list, options, (value) => parseRun(value, repository))
      return truncatePage(page, options.since)
    },

    async readRun(repository, runId, attempt) {
      const run = await fetchRun(api, repository, runId)
      return run === null || attempt === undefined || run.attempt === attempt ? run : null
    },

    /** The steps that ran in this attempt or in an earlier one, whose results it took over. */
    async listJobs(repository, runId, attempt) {
      const run = await fetchRun(api, repository, runId)
      const found = run && (await api.fetchList({ path: `${api.pipelinePath(repository, run.id)}/steps` }))
      if (!found) return []
      const steps = found.values.flatMap(
        (value, index) => api.parseItem(value, (step) => parseJob(step, run, index + 1)) ?? [],
      )
      return steps.filter((step) => step.attempt <= attempt)
    },

    /** Bitbucket attaches no messages to steps. */
    listAnnotations: async () => [],

    readJobLog: (repository, jobId, bytesMax) => fetchJobLog(api, repository, jobId, bytesMax),
  }
}

async function fetchRun(api: BitbucketApi, repository: HostRepository, name: string): Promise<HostRun | null> {
  const found = await api.fetch(api.pipelinePath(repository, name))
  return found && parseRun(found, repository)
}

/**
 * The end of a step's log. Bitbucket answers with the log itself, or, after the step, with the
 * address of a file in its storage, which is read without our token. It is read only if it leads to
 * a host of that storage, so that it cannot lead into our own network.
 */
async function fetchJobLog(
  api: BitbucketApi,
  repository: HostRepository,
  id: string,
  bytesMax: number,
): Promise<string | null> {
  const ids = parseJobId(id)
  if (ids === null) return null
  const path = `${api.pipelinePath(repository, ids.run)}${encodePath`/steps/${formatUuid(ids.step)}/log`}`
  const response = await api.rest.open({ path, headers: { accept: '*/*' } })
  if (response === null) return null
  if (response.ok) return response.body === null ? '' : readEnd(response.body, bytesMax)
  const location = response.headers.get('location')
  const address = location !== null && URL.canParse(location) ? new URL(location) : null
  if (address !== null && isLogAddress(address, new URL(api.addresses.api))) return fetchLogEnd(address, bytesMax)
  api.log.warn({ host: address?.host }, 'The log of a step is not read: its host is not one of Bitbucket')
  return null
}

/** The hosts that keep logs: Bitbucket's own, and the storage that it rents. */
const LOG_HOSTS = ['.bitbucket.org', '.atlassian.com', '.atl-paas.net', '.amazonaws.com']

function isLogAddress(address: URL, api: URL): boolean {
  const isLocal = isLoopback(address.hostname) && isLoopback(api.hostname)
  if (address.protocol !== 'https:' && !(isLocal && address.protocol === 'http:')) return false
  if (isLocal || address.hostname === api.hostname) return true
  return LOG_HOSTS.some((suffix) => address.hostname.endsWith(suffix))
}

const Word = Maybe(Type.Object({ name: Maybe(Text), type: Maybe(Text) }))

/** The state of a pipeline or a step. Objects can have the name only as the end of their type. */
const State = Type.Object({ name: Maybe(Text), type: Maybe(Text), stage: Word, result: Word })

/** What a pipeline runs on: a branch or tag, a pull request, or a commit. */
const Target = Type.Object({
  type: Maybe(Text),
  ref_type: Maybe(Text),
  ref_name: Maybe(Text),
  /** The branch of a pull request. */
  source: Maybe(Text),
  commit: Type.Object({ hash: Text, message: Maybe(Text) }),
  selector: Maybe(Type.Object({ type: Maybe(Text), pattern: Maybe(Text) })),
  pullrequest: Maybe(Type.Object({ id: Type.Union([Id, Text]) })),
})
type Target = Static<typeof Target>

const Pipeline = Type.Object({
  uuid: Text,
  build_number: Maybe(Id),
  run_number: Maybe(Id),
  creator: Maybe(Account),
  target: Target,
  trigger: Word,
  state: State,
  created_on: Timestamp,
  run_creation_date: Maybe(Timestamp),
  completed_on: Maybe(Timestamp),
})

/**
 * A pipeline as a run, and each start of it as an attempt. A pipeline has no time of its last
 * change: while it is open, that of its start stands for it, and its status orders its versions.
 */
export function parseRun(value: unknown, repository: HostRepository): HostRun {
  const pipeline = readAs(Pipeline, value)
  const { target, build_number: number } = pipeline
  const status = parseStatus(pipeline.state)
  const isOpen = status === 'queued' || status === 'in_progress'
  const startedAt = parseDate(pipeline.run_creation_date) ?? new Date(pipeline.created_on)
  const completedAt = isOpen ? null : (parseDate(pipeline.completed_on) ?? startedAt)
  const pullRequest = Number(target.pullrequest?.id ?? 0)
  const event = parseWord(pipeline.trigger)
  const actor = parseAccount(pipeline.creator)
  return {
    repository,
    id: parseUuid(pipeline.uuid),
    number: number ?? null,
    attempt: pipeline.run_number || 1,
    workflow: parseWorkflow(target),
    status,
    ref: parseRef(target),
    // Pipelines of a fork run in the fork.
    head_repository_id: repository.id,
    commit: { sha: target.commit.hash, message: parseText(target.commit.message) },
    event: event ?? 'unknown',
    kind: isPullRequest(target) ? 'pull_request' : (KINDS[event ?? ''] ?? 'other'),
    release_name: null,
    actor,
    triggering_actor: actor,
    pull_requests:
      Number.isSafeInteger(pullRequest) && pullRequest > 0 ? [toPullRequestName(repository, pullRequest)] : [],
    html_url: pipelineUrl(repository, number),
    created_at: new Date(pipeline.created_on),
    started_at: startedAt,
    completed_at: completedAt,
    updated_at: completedAt ?? startedAt,
  }
}

const RESULTS: Readonly<Record<string, HostRunStatus>> = {
  successful: 'success',
  failed: 'failure',
  error: 'failure',
  stopped: 'cancelled',
  expired: 'timed_out',
  not_run: 'skipped',
}

/**
 * A pipeline that is paused before a manual step, or halted until somebody resumes it, is not at
 * its end. A result that we do not know is not a success.
 */
function parseStatus(state: Static<typeof State>): HostRunStatus {
  const result = parseWord(state.result)
  if (result !== null || parseWord(state) === 'completed') return RESULTS[result ?? ''] ?? 'failure'
  return parseWord(state) === 'in_progress' ? 'in_progress' : 'queued'
}

/** `pipeline_step_state_completed_not_run`: types name the object and its state before the word. */
const TYPE_PREFIX = /^pipeline_(?:step_)?(?:state_(?:completed_(?=.)|in_progress_(?=.)|pending_(?=.))?|trigger_)/

/** The name of a state, stage, result or trigger in lower case. */
function parseWord(named: Static<typeof Word> | undefined): string | null {
  const name = named?.name || named?.type?.replace(TYPE_PREFIX, '')
  return name?.toLowerCase() || null
}

/** Why pipelines start that are not of a pull request. */
const KINDS: Readonly<Record<string, TriggerKind>> = {
  push: 'push',
  schedule: 'schedule',
  scheduled: 'schedule',
  manual: 'manual',
  parent_step: 'workflow',
}

function isPullRequest({ type, pullrequest, selector }: Target): boolean {
  return type === 'pipeline_pullrequest_target' || Boolean(pullrequest) || selector?.type === 'pull-requests'
}

export function toPullRequestName(repository: HostRepository, number: number): HostPullRequestName {
  return { number, url: repository.html_url && `${repository.html_url}/pull-requests/${number}` }
}

function pipelineUrl({ html_url }: HostRepository, number: number | null | undefined): string | null {
  return html_url === null || !number ? null : `${html_url}/pipelines/results/${number}`
}

/** The file of Bitbucket Pipelines: every repository has at most this one. */
const WORKFLOW_PATH = 'bitbucket-pipelines.yml'

/**
 * The section of the file that runs, in the words of the file: `default`, `branches/main`,
 * `tags/v*`, `pull-requests/**`, `custom: deploy`.
 */
function parseWorkflow(target: Target): HostRun['workflow'] {
  const type = parseText(target.selector?.type)?.toLowerCase() ?? (isPullRequest(target) ? 'pull-requests' : 'default')
  const pattern = parseText(target.selector?.pattern)
  const name = pattern === null || type === 'default' ? type : `${type}${type === 'custom' ? ': ' : '/'}${pattern}`
  return { id: name, name, path: WORKFLOW_PATH }
}

function parseRef({ ref_type: type, ref_name, source }: Target): string | null {
  const name = parseText(ref_name) ?? parseText(source)
  if (name === null) return null
  return `refs/${type?.toLowerCase().includes('tag') ? 'tags' : 'heads'}/${name}`
}

const Step = Type.Object({
  uuid: Text,
  name: Maybe(Text),
  run_number: Maybe(Id),
  state: State,
  started_on: Maybe(Timestamp),
  completed_on: Maybe(Timestamp),
})

/** `position`: the place of the step in its run, which names steps without a name. */
function parseJob(value: unknown, { repository, id, number }: HostRun, position: number): HostJob {
  const step = readAs(Step, value)
  const url = pipelineUrl(repository, number)
  return {
    repository,
    run_id: id,
    attempt: step.run_number || 1,
    id: formatJobId(id, parseUuid(step.uuid)),
    name: parseText(step.name) ?? `Step ${position}`,
    status: parseStatus(step.state),
    started_at: parseDate(step.started_on),
    completed_at: parseDate(step.completed_on),
    html_url: url && `${url}/steps/${encodeURIComponent(step.uuid)}`,
    runner: null,
    failed_steps: [],
  }
}

/** Steps are read by the ids of both, so a job has both in its id. */
export function formatJobId(runId: string, stepId: string): string {
  return `${runId}_${stepId}`
}

function parseJobId(id: string): { run: string; step: string } | null {
  const [run, step, ...others] = id.split('_')
  return run && step && others.length === 0 ? { run, step } : null
}

import { type Static, Type } from 'typebox'
import { parse } from 'yaml'
import { HOUR_MS } from '../../../platform/clock.ts'
import type { HostReader } from '../../code-host.ts'
import type { HostRepository } from '../../host-repository.ts'
import type { HostAnnotation, HostJob, HostRunStatus, HostWorkflow } from '../../host-run.ts'
import { Remembered } from '../../kit/cache.ts'
import { readEnd } from '../../kit/fetch-log-end.ts'
import { Id, Maybe, parseDate, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { encodePath } from '../../kit/rest-client.ts'
import { Account, formatProjectPath, type GitlabApi, type Session } from './client.ts'

/** `section_start:1560896352:step_script`, with which the runner marks parts that can be folded. */
const SECTION = /section_(?:start|end):\d+:[^\r\n]{0,200}\r?/g

/** What follows such a mark: it makes terminals forget the line. */
const ERASE_LINE = '\u001b[0K'

/** `2026-05-22T12:43:46.962646Z 01O `, with which newer runners begin each line. */
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]{8,20}Z \d\d[OE][+ ]/gm

/** The end of a job's log, without the marks of the runner. */
export async function fetchJobLog(
  api: GitlabApi,
  repository: HostRepository,
  jobId: string,
  bytesMax: number,
): Promise<string | null> {
  const log = await api.openText(`${formatProjectPath(repository)}${encodePath`/jobs/${jobId}/trace`}`)
  if (log === null) return null
  return (await readEnd(log, bytesMax)).replaceAll(SECTION, '').replaceAll(ERASE_LINE, '').replaceAll(TIME, '')
}

const Lint = Type.Object({ merged_yaml: Maybe(Text) })

/**
 * GitLab resolves includes, templates and `extends` itself. Servers before 16.5 always answer for
 * the default branch, so they are not asked. The newer name of `sha` is not known to all.
 */
export function readWorkflow({ api, clock }: Session): NonNullable<HostReader['readWorkflow']> {
  const known = new Remembered({ read: () => readsCommits(api), clock, ageMsMax: HOUR_MS })
  return async (repository, { commit_sha: sha }) => {
    if (!(await known.get(''))) return null
    const found = await api.read(`${formatProjectPath(repository)}/ci/lint`, { sha })
    const merged = found && api.parseItem(found, (value) => readAs(Lint, value).merged_yaml ?? null)
    return merged === null ? null : parseMergedConfig(merged)
  }
}

const Version = Type.Object({ version: Text })

async function readsCommits(api: GitlabApi): Promise<boolean> {
  const found = await api.read('/version')
  const [major = 0, minor = 0] = found === null ? [] : readAs(Version, found).version.split('.').map(Number)
  return major > 16 || (major === 16 && minor >= 5)
}

/** A job, or a bridge: a job that starts another pipeline. */
export const Job = Type.Object({
  id: Id,
  name: Text,
  status: Text,
  failure_reason: Maybe(Text),
  allow_failure: Maybe(Type.Boolean()),
  created_at: Timestamp,
  started_at: Maybe(Timestamp),
  finished_at: Maybe(Timestamp),
  web_url: Maybe(Text),
  user: Maybe(Account),
  commit: Maybe(Type.Object({ message: Maybe(Text) })),
  pipeline: Maybe(Type.Object({ status: Maybe(Text) })),
  runner: Maybe(Type.Object({ description: Maybe(Text) })),
})

export type Job = Static<typeof Job>

export function parseJob(value: unknown): Job {
  return readAs(Job, value)
}

export function toHostJob(job: Job, of: Pick<HostJob, 'repository' | 'run_id' | 'attempt'>): HostJob {
  const status = parseJobStatus(job)
  const { html_url: url } = of.repository
  return {
    ...of,
    id: String(job.id),
    name: job.name,
    status,
    started_at: parseDate(job.started_at),
    completed_at: isOpen(status) ? null : parseDate(job.finished_at),
    html_url: parseText(job.web_url) ?? (url && `${url}/-/jobs/${job.id}`),
    runner: parseText(job.runner?.description),
    // GitLab has one script for each job, without steps.
    failed_steps: [],
  }
}

/** The script itself failed: the log says why. */
const SCRIPT_FAILURE = 'script_failure'

/** Why GitLab itself ended a job, in its own words. Null if the script failed. */
export function parseFailureReason(value: unknown): HostAnnotation | null {
  const { status, failure_reason: reason } = readAs(Job, value)
  if (status !== 'failed' || !reason || reason === SCRIPT_FAILURE) return null
  const message = `The job failed: ${reason.replaceAll('_', ' ')}.`
  return { level: 'error', title: null, message, path: null, line: null }
}

const FILE_CHARS_MAX = 2 * 1024 * 1024

const ALIASES_MAX = 100

const JOBS_MAX = 1000

/** Keys of a configuration that are no jobs. */
const GLOBAL_KEYS = [
  ...['default', 'include', 'stages', 'types', 'variables', 'workflow', 'spec', 'image', 'services', 'cache'],
  ...['before_script', 'after_script'],
]

const DEFAULT_STAGES = ['build', 'test', 'deploy']

const DEFAULT_STAGE = 'test'

/** The stages before and after all others. */
const FIRST = '.pre'

const LAST = '.post'

type Members = Record<string, unknown>

/**
 * The jobs of a configuration in which GitLab has resolved everything. Without `needs`, a job needs
 * the jobs of the stage before it. Null for a configuration without jobs.
 */
export function parseMergedConfig(text: string): HostWorkflow | null {
  const config = text.length > FILE_CHARS_MAX ? null : parseMembers(plainNames(parseYaml(text)))
  if (config === null) return null
  const jobs = Object.entries(config).flatMap(([name, value]): [string, Members][] => {
    const job = parseMembers(value)
    const isJob = job !== null && !name.startsWith('.') && !GLOBAL_KEYS.includes(name)
    return isJob ? [[name, job]] : []
  })
  if (jobs.length === 0) return null
  const stages = parseStages(config)
  const kept = jobs.slice(0, JOBS_MAX)
  return {
    jobs: kept.map(([name, job]) => ({ name, needs: parseNeeds(job) ?? jobsBefore(job, kept, stages) })),
    deploys: kept.some(([, { environment }]) => environment !== undefined && environment !== null),
  }
}

function parseYaml(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: ALIASES_MAX, uniqueKeys: false, merge: true, logLevel: 'silent' })
  } catch {
    return null
  }
}

/** Some servers write the names of members as Ruby does: `:script`. */
function plainNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainNames)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.replace(/^:/, ''), plainNames(member)]))
}

function parseMembers(value: unknown): Members | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : null
}

function parseStages({ stages }: Members): string[] {
  const named = Array.isArray(stages) ? stages.filter((stage) => typeof stage === 'string') : DEFAULT_STAGES
  return [FIRST, ...named.filter((stage) => stage !== FIRST && stage !== LAST), LAST]
}

function parseStage({ stage }: Members): string {
  return typeof stage === 'string' ? stage : DEFAULT_STAGE
}

/** Null without `needs`. Jobs of other pipelines and projects are left out. */
function parseNeeds({ needs }: Members): string[] | null {
  if (!Array.isArray(needs)) return null
  const names = needs.flatMap((need): string[] => {
    if (typeof need === 'string') return [need]
    const { job, project, pipeline } = parseMembers(need) ?? {}
    return typeof job === 'string' && project === undefined && pipeline === undefined ? [job] : []
  })
  return [...new Set(names)]
}

function jobsBefore(job: Members, jobs: readonly [string, Members][], stages: readonly string[]): string[] {
  const before = stages.slice(0, Math.max(0, stages.indexOf(parseStage(job)))).reverse()
  const nearest = before.find((stage) => jobs.some(([, other]) => parseStage(other) === stage))
  return jobs.filter(([, other]) => parseStage(other) === nearest).map(([name]) => name)
}

/** How GitLab's statuses of pipelines and jobs appear in the seven statuses (providers.md §3). */
const STATUSES: Readonly<Record<string, HostRunStatus>> = {
  created: 'queued',
  waiting_for_resource: 'queued',
  waiting_for_callback: 'queued',
  preparing: 'queued',
  pending: 'queued',
  scheduled: 'queued',
  manual: 'queued',
  running: 'in_progress',
  canceling: 'in_progress',
  success: 'success',
  failed: 'failure',
  canceled: 'cancelled',
  skipped: 'skipped',
}

/** A status that we do not know is not a success. */
export function parseStatus(status: string): HostRunStatus {
  return STATUSES[status] ?? 'failure'
}

export function isOpen(status: HostRunStatus): boolean {
  return status === 'queued' || status === 'in_progress'
}

const TIMEOUTS = [
  'job_execution_timeout',
  'stuck_or_timeout_failure',
  'stuck_pending_timeout',
  'job_execution_server_timeout',
]

type JobWords = { status: string; failure_reason?: string | null; pipeline?: { status?: string | null } | null }

/**
 * The status of a job. A manual job that nobody started is skipped once its pipeline has ended.
 */
export function parseJobStatus({ status, failure_reason: reason, pipeline }: JobWords): HostRunStatus {
  const word = parseStatus(status)
  if (status === 'failed' && TIMEOUTS.includes(reason ?? '')) return 'timed_out'
  const hasEnded = pipeline?.status ? !isOpen(parseStatus(pipeline.status)) : false
  return status === 'manual' && hasEnded ? 'skipped' : word
}

import type { HostAnnotation, HostJob } from '../../../codehosts/host-run.ts'
import type { RunStatus } from '../../runs/run-status.ts'
import { classifyFailure, type FailureCategory } from './failure-category.ts'
import { readLogEnd, readLogLines, selectFailedStepLines } from './log-lines.ts'
import { removeSecrets } from './mask-secrets.ts'

/** A job of a failed attempt, with what the host says about it. */
export type JobEvidence = { job: HostJob; annotations: HostAnnotation[]; log: string | null }

export type RunFailure = { failure_category: FailureCategory; failure_excerpt: string | null }

const EXCERPT_CHARS_MAX = 2000
/** How much is read of the end of a log. */
export const LOG_BYTES_MAX = 64 * 1024
/** The number of jobs whose logs are read. */
const JOBS_MAX = 3

/**
 * The jobs that explain a failed attempt: those that failed, in the order in which they ended. If
 * none failed, those that were cancelled.
 */
export function selectDecisiveJobs(jobs: readonly HostJob[]): HostJob[] {
  const failed = jobs.filter(({ status }) => status === 'failure' || status === 'timed_out')
  const decisive = failed.length > 0 ? failed : jobs.filter(({ status }) => status === 'cancelled')
  const getEnd = ({ completed_at }: HostJob) => completed_at?.getTime() ?? Number.POSITIVE_INFINITY
  return decisive
    .toSorted((a, b) => getEnd(a) - getEnd(b) || Number(a.id) - Number(b.id) || (a.id < b.id ? -1 : 1))
    .slice(0, JOBS_MAX)
}

/** Explains a failed attempt by the first of its jobs that has a category, else by the first. */
export function explainFailure(status: RunStatus, jobs: readonly JobEvidence[]): RunFailure {
  const explained = jobs.map((evidence) => explainJob(status, evidence))
  const decisive = explained.find(({ failure_category }) => failure_category !== 'unknown') ?? explained[0]
  return decisive ?? { failure_category: classifyFailure({ status, names: [], lines: [] }), failure_excerpt: null }
}

function explainJob(status: RunStatus, { job, annotations, log }: JobEvidence): RunFailure {
  const messages = annotations.filter(({ level }) => level === 'error').flatMap(formatAnnotation)
  const output = log === null ? [] : selectFailedStepLines(readLogEnd(log, LOG_BYTES_MAX))
  const names = [...job.failed_steps.map(({ name }) => name), job.name]
  const ofJob = job.status === 'timed_out' ? 'timed_out' : status
  return {
    failure_category: classifyFailure({ status: ofJob, names, lines: [...output, ...messages] }),
    failure_excerpt: selectExcerpt(output.length > 0 ? output : messages),
  }
}

function formatAnnotation({ title, message, path, line }: HostAnnotation): string[] {
  const place = path === null || line === null ? '' : `${path}:${line}: `
  return readLogLines(`${title === null ? '' : `${title}\n`}${place}${message}`)
}

/** The last lines, without secrets. They are masked first, so that no cut hides a part of one. */
function selectExcerpt(lines: readonly string[]): string | null {
  const kept: string[] = []
  let length = 0
  for (const line of removeSecrets(lines).reverse()) {
    const room = EXCERPT_CHARS_MAX - length
    if (line.length > room) {
      if (kept.length === 0) kept.push(line.slice(-room))
      break
    }
    kept.push(line)
    length += line.length + 1
  }
  return kept.reverse().join('\n').trim() || null
}

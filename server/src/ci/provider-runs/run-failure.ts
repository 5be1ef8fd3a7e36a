import type { HostAnnotation, HostJob } from '../../codehosts/host-run.ts'
import type { RunStatus } from '../runs/run-status.ts'
import { classifyFailure, type FailureCategory } from './failure-category.ts'
import { removeSecrets } from './remove-secrets.ts'

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

const ESCAPE = String.fromCharCode(27)
const BELL = String.fromCharCode(7)
/** Colors and cursor movements (ECMA-48), and titles and links of terminals. */
const SEQUENCES = new RegExp(
  `${ESCAPE}\\[[0-9;:?]{0,32}[A-Za-z]|${ESCAPE}\\][^${ESCAPE}${BELL}]{0,400}(?:${BELL}|${ESCAPE}\\\\)?|${ESCAPE}[@-Z\\\\^_=>]`,
  'g',
)
const TIMESTAMP = /^\uFEFF?\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})? ?/
/** A character at the cut may have been removed. */
const UTF8_BYTES_MAX = 4
const CONTROLS = /[\p{Cc}\p{Co}]/gu

/** Only the start of longer lines is kept. */
const LINE_CHARS_MAX = 4000
/** A shortened line ends before its last word, which may be a part of a secret. */
const LAST_WORD_CHARS_MAX = 500

/** The lines of a text without time stamps, colors and control characters. */
function readLogLines(text: string): string[] {
  return text.split('\n').map(cleanLine)
}

/**
 * The lines of the end of a log, of which at most `bytesMax` were read. If there is more, the first
 * line is left out: it is incomplete, and may start within a secret.
 */
function readLogEnd(log: string, bytesMax: number): string[] {
  const isComplete = Buffer.byteLength(log) < bytesMax - UTF8_BYTES_MAX
  return readLogLines(isComplete ? log : log.slice(log.indexOf('\n') + 1 || log.length))
}

/** A line that was overwritten on the terminal (progress) keeps its last version. */
function cleanLine(raw: string): string {
  const ended = raw.endsWith('\r') ? raw.slice(0, -1) : raw
  const line = shorten(ended.slice(ended.lastIndexOf('\r') + 1))
  return line.replace(TIMESTAMP, '').replace(SEQUENCES, '').replaceAll('\t', '  ').replace(CONTROLS, '').trimEnd()
}

function shorten(line: string): string {
  if (line.length <= LINE_CHARS_MAX) return line
  const end = line.lastIndexOf(' ', LINE_CHARS_MAX)
  return line.slice(0, end < LINE_CHARS_MAX - LAST_WORD_CHARS_MAX ? LINE_CHARS_MAX : end)
}

// Runners mark lines like this: GitHub Actions and Azure Pipelines.
const ERROR = '##[error]'
const STEP_START = '##[group]Run '
const GROUP_END = '##[endgroup]'
const EXIT_CODE = `${ERROR}Process completed with exit code`

/**
 * The lines of the step that failed, from the output of its command to its error. A log without
 * marks is returned whole.
 */
function selectFailedStepLines(lines: readonly string[]): string[] {
  const exit = lines.findLastIndex((line) => line.startsWith(EXIT_CODE))
  const end = exit >= 0 ? exit : lines.findLastIndex((line) => line.startsWith(ERROR))
  if (end < 0) return withoutMarks(lines)
  const before = lines.slice(0, end + 1)
  const start = before.findLastIndex((line) => line.startsWith(STEP_START))
  const command = start < 0 ? -1 : before.findIndex((line, index) => index > start && line.startsWith(GROUP_END))
  return withoutMarks(before.slice(Math.max(start, command) + 1))
}

const MARK = /^##\[(\w{1,20})\]/
const SHOWN: Record<string, string> = { error: 'Error: ', warning: 'Warning: ', notice: 'Notice: ' }
const HIDDEN = ['endgroup', 'debug', 'section']

function withoutMarks(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const mark = MARK.exec(line)?.[1]
    if (mark === undefined) return [line]
    return HIDDEN.includes(mark) ? [] : [line.replace(MARK, SHOWN[mark] ?? '')]
  })
}

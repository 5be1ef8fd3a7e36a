import { parse } from 'yaml'
import type { HostWorkflow } from '../../codehosts/host-run.ts'

/** What is kept of a version of a workflow file. */
export type WorkflowFile = {
  /** The names of the jobs that each job needs, by the name of the job; null for other files. */
  job_dependencies: Record<string, string[]> | null
  /** True if a job deploys to an environment. */
  deploys: boolean
}

export const NO_WORKFLOW: WorkflowFile = { job_dependencies: null, deploys: false }

const FILE_CHARS_MAX = 512 * 1024
/** More aliases than this would make a small file expand to a large document. */
const ALIASES_MAX = 100
const JOBS_MAX = 1000
const NAME_CHARS_MAX = 200

/**
 * Reads the jobs of a workflow file (providers.md §3): named by their `name`, else by their id,
 * without matrix values. A file that is not valid YAML, too large or without jobs has none.
 */
export function parseWorkflowFile(text: string): WorkflowFile {
  const jobs = text.length > FILE_CHARS_MAX ? null : readJobs(text)
  if (jobs === null) return NO_WORKFLOW
  const names = new Map([...jobs].map(([id, job]) => [id, jobName(id, job)]))
  const dependencies = new Map<string, Set<string>>()
  for (const [id, job] of jobs) {
    const name = names.get(id) as string
    const { needs } = job
    const needed = (Array.isArray(needs) ? needs : [needs])
      .filter((need) => typeof need === 'string')
      .map(storable)
      .map((need) => names.get(need) ?? need)
    dependencies.set(name, new Set([...(dependencies.get(name) ?? []), ...needed]))
  }
  return {
    job_dependencies: Object.fromEntries([...dependencies].map(([name, needed]) => [name, [...needed]])),
    deploys: [...jobs.values()].some(({ environment }) => environment !== undefined && environment !== null),
  }
}

/** What is kept of a workflow that its host describes. */
export function toWorkflowFile({ jobs, deploys }: HostWorkflow): WorkflowFile {
  const kept = jobs
    .slice(0, JOBS_MAX)
    .map(({ name, needs }): [string, string[]] => [storable(name), needs.map(storable)])
  return { job_dependencies: Object.fromEntries(kept), deploys }
}

type Members = Record<string, unknown>

function readJobs(text: string): Map<string, Members> | null {
  const jobs = toMembers(toMembers(parseYaml(text))?.jobs)
  if (jobs === null) return null
  const read = Object.entries(jobs).map(([id, job]): [string, Members] => [storable(id), toMembers(job) ?? {}])
  return new Map(read.slice(0, JOBS_MAX))
}

function parseYaml(text: string): unknown {
  try {
    return parse(text, { maxAliasCount: ALIASES_MAX, uniqueKeys: false, merge: true, logLevel: 'silent' })
  } catch {
    return null
  }
}

function toMembers(value: unknown): Members | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : null
}

/**
 * The name without expressions, and without the brackets and separators that they leave behind:
 * `Test (${{ matrix.os }})` is `Test`. The id if nothing remains.
 */
function jobName(id: string, { name }: Members): string {
  if (typeof name !== 'string') return id
  const plain = withoutExpressions(name)
    .replace(/\( {0,9}[,/|-]{0,9} {0,9}\)|\[ {0,9}[,/|-]{0,9} {0,9}\]/g, ' ')
    .split(' ')
    .filter((word) => word !== '')
    .join(' ')
  return storable(trimSeparators(plain)) || id
}

function withoutExpressions(name: string): string {
  const [first = '', ...rest] = name.split('${{')
  return first + rest.map((part) => part.slice(part.indexOf('}}') < 0 ? part.length : part.indexOf('}}') + 2)).join('')
}

function trimSeparators(name: string): string {
  const isSeparator = (character: string | undefined) => character !== undefined && ' -/:,|'.includes(character)
  let [start, end] = [0, name.length]
  while (start < end && isSeparator(name[start])) start += 1
  while (end > start && isSeparator(name[end - 1])) end -= 1
  return name.slice(start, end)
}

/** A name of limited length, without NUL and lone surrogates, which PostgreSQL does not store. */
function storable(name: string): string {
  return name.slice(0, NAME_CHARS_MAX).toWellFormed().replaceAll('\0', '')
}

import { parse } from 'yaml'
import type { HostWorkflow } from '../../host-run.ts'

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
  const config = text.length > FILE_CHARS_MAX ? null : membersOf(plainNames(parseYaml(text)))
  if (config === null) return null
  const jobs = Object.entries(config).flatMap(([name, value]): [string, Members][] => {
    const job = membersOf(value)
    const isJob = job !== null && !name.startsWith('.') && !GLOBAL_KEYS.includes(name)
    return isJob ? [[name, job]] : []
  })
  if (jobs.length === 0) return null
  const stages = stagesOf(config)
  const kept = jobs.slice(0, JOBS_MAX)
  return {
    jobs: kept.map(([name, job]) => ({ name, needs: needsOf(job) ?? jobsBefore(job, kept, stages) })),
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

function membersOf(value: unknown): Members | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : null
}

function stagesOf({ stages }: Members): string[] {
  const named = Array.isArray(stages) ? stages.filter((stage) => typeof stage === 'string') : DEFAULT_STAGES
  return [FIRST, ...named.filter((stage) => stage !== FIRST && stage !== LAST), LAST]
}

function stageOf({ stage }: Members): string {
  return typeof stage === 'string' ? stage : DEFAULT_STAGE
}

/** Null without `needs`. Jobs of other pipelines and projects are left out. */
function needsOf({ needs }: Members): string[] | null {
  if (!Array.isArray(needs)) return null
  const names = needs.flatMap((need): string[] => {
    if (typeof need === 'string') return [need]
    const { job, project, pipeline } = membersOf(need) ?? {}
    return typeof job === 'string' && project === undefined && pipeline === undefined ? [job] : []
  })
  return [...new Set(names)]
}

function jobsBefore(job: Members, jobs: readonly [string, Members][], stages: readonly string[]): string[] {
  const before = stages.slice(0, Math.max(0, stages.indexOf(stageOf(job)))).reverse()
  const nearest = before.find((stage) => jobs.some(([, other]) => stageOf(other) === stage))
  return jobs.filter(([, other]) => stageOf(other) === nearest).map(([name]) => name)
}

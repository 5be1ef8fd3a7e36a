import { hostname } from 'node:os'
import { UsageError } from '@shiplock/command-line/options'
import type { NewReport } from '@shiplock/sdk'
import type { CiJob } from '../ci/ci-job.ts'

type Job = NewReport['job']
type Matrix = NonNullable<Job['matrix']>

type Given = { job: string | undefined; matrix: string | undefined }

const NAME_MAX = 100
const VALUE_MAX = 500

/** The job of a report: what the options say, else what the CI tells. Throws a `UsageError`. */
export function describeJob({ job, matrix }: Given, ci: CiJob | null, env: NodeJS.ProcessEnv): Job {
  const name = job ?? ci?.job ?? 'default'
  if (name.length > NAME_MAX) throw new UsageError(`--job must have at most ${NAME_MAX} characters`)
  const values = matrix === undefined ? matrixOf(env) : readMatrix(matrix)
  const runner = ci === null ? undefined : runnerOf(env)
  return { name, ...(values && { matrix: values }), ...(runner && { runner: runner.slice(0, 200) }) }
}

/** `null` is what `toJSON(matrix)` of GitHub says in a job without a matrix. */
function readMatrix(text: string): Matrix | null {
  const value = parse(text)
  if (value === null) return null
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new UsageError(`--matrix must be a JSON object such as '{"os": "linux"}', not ${JSON.stringify(text)}`)
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, scalarOf(inner)]))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`--matrix is not valid JSON: ${JSON.stringify(text)}`)
  }
}

/** The values of a matrix are scalars in the API. Objects and lists become JSON. */
function scalarOf(value: unknown): string | number | boolean | null {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, VALUE_MAX)
}

/** Variables that number the copies of a parallel job: their number, and how many there are. */
const COPIES: [number: string, count: string][] = [
  ['CIRCLE_NODE_INDEX', 'CIRCLE_NODE_TOTAL'],
  ['BUILDKITE_PARALLEL_JOB', 'BUILDKITE_PARALLEL_JOB_COUNT'],
  ['SYSTEM_JOBPOSITIONINPHASE', 'SYSTEM_TOTALJOBSINPHASE'],
]

/** The copies of a parallel job have the same name. GitLab numbers them in the name. */
function matrixOf(env: NodeJS.ProcessEnv): Matrix | null {
  const copy = COPIES.find(([number, count]) => env[number] !== undefined && Number(env[count]) > 1)
  return copy === undefined ? null : { copy: Number(env[copy[0]]) }
}

/** Variables with the name of the machine, by CI system. */
const RUNNERS = ['RUNNER_NAME', 'CI_RUNNER_DESCRIPTION', 'NODE_NAME', 'BUILDKITE_AGENT_NAME', 'AGENT_NAME']

function runnerOf(env: NodeJS.ProcessEnv): string {
  const variable = RUNNERS.find((name) => env[name]?.trim())
  return (variable && env[variable]) || hostname()
}

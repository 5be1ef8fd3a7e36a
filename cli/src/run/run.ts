import { randomUUID } from 'node:crypto'
import type { Context } from '@shiplock/command-line/command'
import { integerOption, type Options, type OptionValues, UsageError } from '@shiplock/command-line/options'
import { type components, type ShiplockClient, ShiplockError } from '@shiplock/sdk'
import type { CiEvent, CiJob } from '../ci/ci-job.ts'
import { detectCi } from '../ci/detect-ci.ts'
import { checkConflicts, type Expect } from './conflicts.ts'
import { findRevision, REVISION_OPTIONS } from './revision.ts'

const EVENTS = ['push', 'pull_request', 'tag', 'schedule', 'manual', 'other'] as const satisfies readonly CiEvent[]

/** The options that describe a run. Inside of a CI, none of them is needed. */
export const RUN_FIELD_OPTIONS = {
  'ci-system': {
    type: 'text',
    value: 'NAME',
    about: 'the CI system, such as jenkins (by default the one that is detected, or "shell")',
  },
  'ci-instance': {
    type: 'text',
    value: 'HOST',
    about: 'the CI server or organization, as host and path; within it the ids of runs are unique',
  },
  'external-run-id': { type: 'text', value: 'ID', about: 'the id of the run in its CI system' },
  attempt: { type: 'text', value: 'N', about: 'the number of the attempt, from 1' },
  ...REVISION_OPTIONS,
  pipeline: { type: 'text', value: 'NAME', about: 'the name of the pipeline' },
  actor: { type: 'text', value: 'NAME', about: 'who started the run' },
  event: { type: 'text', value: 'EVENT', about: 'what started the run', choices: EVENTS },
  'run-url': { type: 'text', value: 'URL', about: 'the page of the run in its CI system' },
  adopt: {
    type: 'flag',
    value: '',
    about: 'go on if the server knows the run with another repository or commit',
  },
} as const satisfies Options

/** The options of a command that belongs to a run. */
export const RUN_OPTIONS = {
  run: {
    type: 'text',
    value: 'ID',
    about: 'the run, by the id that "shiplock run start" printed (SHIPLOCK_RUN; by default the run of the CI)',
  },
  ...RUN_FIELD_OPTIONS,
} as const satisfies Options

type RunFieldOptions = OptionValues<typeof RUN_FIELD_OPTIONS>
type RunOptions = OptionValues<typeof RUN_OPTIONS>

export type CiRun = components['schemas']['CiRun']

export type FinalStatus = Exclude<CiRun['status'], 'queued' | 'in_progress'>

/**
 * A run that the API knows. `attempt` is null for the newest one. `host` is the connected code host
 * that reports the status of the run, if it is known to be one. `expect` is what it must be about.
 */
export type RunName = { id: string; attempt: number | null; host: string | null; expect: Expect }

/**
 * The run that a command belongs to: `--run`, the run that the options describe, the run of
 * `shiplock run exec`, or the run of the CI job. Creates it if the API does not know it yet; a
 * repetition returns the same run. Throws a `UsageError` if there is none.
 */
export async function findRun(
  client: ShiplockClient,
  options: RunOptions,
  context: Context,
  begins = false,
): Promise<RunName> {
  const named = namedRun(options, context.env)
  if (named !== null) return named
  if (options['external-run-id'] === undefined && detectCi(context.env, context.cwd) === null) {
    throw new UsageError(
      'There is no run: name it with --run ID, which "shiplock run start" prints, or with --external-run-id',
    )
  }
  const described = describeRun(options, context, begins)
  return nameOf(...(await createRun(client, described, options, context)))
}

export function nameOf({ id, attempt, provider }: CiRun, expect: Expect): RunName {
  return { id, attempt, host: provider === 'other' ? null : provider, expect }
}

/** What a command finds in its environment, so that others inside of it belong to the run. */
export function runVariables({ id, attempt }: RunName): Record<string, string> {
  return { SHIPLOCK_RUN: id, ...(attempt !== null && { SHIPLOCK_RUN_ATTEMPT: String(attempt) }) }
}

/** The run that is named by its id; null if there is none. */
function namedRun(options: RunOptions, env: NodeJS.ProcessEnv): RunName | null {
  const expect = {
    ...(options.repository !== undefined && { repository: options.repository }),
    ...(options.commit !== undefined && { commit_sha: options.commit }),
  }
  if (options.run !== undefined) return { id: options.run, attempt: attemptOf(options) ?? null, host: null, expect }
  if (options['external-run-id'] !== undefined || !env.SHIPLOCK_RUN) return null
  return { id: env.SHIPLOCK_RUN, attempt: Number(env.SHIPLOCK_RUN_ATTEMPT) || null, host: null, expect }
}

export type NewRun = ReturnType<typeof describeRun>

type Start = { status?: 'queued' | 'in_progress'; started_at?: string; timeout_minutes?: number }

/**
 * Creates the run. If the API knows it already, it is returned unchanged, with what it is about. Throws
 * `ConflictError` if it is another run.
 */
export async function createRun(
  client: ShiplockClient,
  run: NewRun & Start,
  { adopt }: Pick<RunFieldOptions, 'adopt'>,
  { env, cwd }: Pick<Context, 'env' | 'cwd'>,
): Promise<[run: CiRun, about: Expect]> {
  const stored = await postRun(client, run)
  return [stored, checkConflicts(stored, run, { adopt, ci: detectCi(env, cwd) })]
}

/** Where the CI does not count attempts, the newest one is meant. */
async function postRun(client: ShiplockClient, run: NewRun & Start & { attempt?: number }): Promise<CiRun> {
  try {
    return (await client.api.POST('/v1/ci/runs', { body: run })).data.data
  } catch (error) {
    const newest = error instanceof ShiplockError && error.code === 'attempt_outdated' && error.details.newestAttempt
    if (run.attempt !== undefined || typeof newest !== 'number') throw error
    return postRun(client, { ...run, attempt: newest })
  }
}

/** The field of a report or gate; none where nothing is expected. */
export function expectField({ expect }: RunName): { expect?: Expect } {
  return Object.keys(expect).length === 0 ? {} : { expect }
}

/** Reports the final status. Sending it again changes nothing. */
export async function finishRun(client: ShiplockClient, run: RunName, status: FinalStatus): Promise<CiRun> {
  return updateRun(client, run, { status })
}

/**
 * The number of the attempt of a run. A request that changes nothing tells the newest one. Null if
 * that is refused, as it is for the runs of a connected code host.
 */
export async function newestAttempt(client: ShiplockClient, run: RunName): Promise<number | null> {
  if (run.attempt !== null) return run.attempt
  try {
    return (await updateRun(client, run, {})).attempt
  } catch (error) {
    if (error instanceof ShiplockError && error.status === 404) return null
    throw error
  }
}

async function updateRun(client: ShiplockClient, { id, attempt }: RunName, update: { status?: FinalStatus }) {
  const body = { ...update, ...(attempt !== null && { attempt }) }
  const { data } = await client.api.PATCH('/v1/ci/runs/{run_id}', { params: { path: { run_id: id } }, body })
  return data.data
}

/**
 * The fields of the run, from the options, the CI and git. `begins` continues a run that has ended, where
 * the CI retries its jobs inside of it. Throws a `UsageError` if one is unknown.
 */
export function describeRun(options: RunFieldOptions, context: Pick<Context, 'env' | 'cwd'>, begins: boolean) {
  const { repository, commit_sha, ref, ci } = findRevision(options, context)
  if (repository === null)
    throw new UsageError('Give the repository with --repository: neither the CI nor git tells it')
  if (commit_sha === null) throw new UsageError('Give the commit with --commit: neither the CI nor git tells it')
  const actor = options.actor ?? ci?.actor
  const url = options['run-url'] ?? ci?.url
  return {
    ...identityOf(options, ci),
    ...attemptFields(options, ci, begins),
    repository,
    commit_sha,
    ...(ref && { ref }),
    pipeline_name: options.pipeline ?? ci?.pipeline_name ?? lastPart(repository),
    ...(url && { url }),
    ...(actor && { actor }),
    event: (options.event as CiEvent | undefined) ?? ci?.event ?? 'other',
  }
}

/** A run that nothing names is a new one. */
function identityOf(options: RunFieldOptions, ci: CiJob | null) {
  const ci_system = options['ci-system'] ?? ci?.ci_system ?? 'shell'
  const isOfCi = ci_system === ci?.ci_system
  const ci_instance = options['ci-instance'] ?? (isOfCi ? ci.ci_instance : null)
  return {
    ci_system,
    ...(ci_instance && { ci_instance }),
    ...(isOfCi && { ci_system_name: ci.ci_system_name }),
    external_run_id: options['external-run-id'] ?? ci?.external_run_id ?? randomUUID(),
  }
}

/** They retry jobs inside of a run and count no attempts of it (ci-evidence §3). */
const RETRYING_IN_RUNS = ['gitlab-ci', 'azure-pipelines', 'bitbucket-pipelines', 'travis-ci', 'buildkite']

function attemptFields(
  options: RunFieldOptions,
  ci: CiJob | null,
  begins: boolean,
): { attempt?: number; continue?: true } {
  const attempt = attemptOf(options)
  if (attempt !== undefined) return { attempt }
  if (ci === null || options['external-run-id'] !== undefined) return {}
  if (!RETRYING_IN_RUNS.includes(ci.ci_system)) return { attempt: ci.attempt }
  return begins ? { continue: true } : {}
}

const ATTEMPTS = [1, 999] as const

function attemptOf({ attempt }: { attempt: string | undefined }): number | undefined {
  return attempt === undefined ? undefined : integerOption('attempt', attempt, ATTEMPTS)
}

/** The name of the repository, from every form of its address. */
function lastPart(repository: string): string {
  return (
    repository
      .replace(/(?<!\/)\/+$/, '')
      .replace(/\.git$/, '')
      .split(/[/:]/)
      .at(-1) || repository
  )
}

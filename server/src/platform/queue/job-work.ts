import { counter, histogram } from '../telemetry/metrics.ts'
import { endWith, startSpan } from '../telemetry/tracing.ts'
import { currentWork, within } from '../work.ts'

const seconds = histogram(
  'shiplock_job_duration_seconds',
  'Time of each try of a background job. A try that is stopped with its worker is repeated.',
  ['task', 'outcome'],
  [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900],
)

/** Jobs that are not tried again. */
export const givenUp = counter(
  'shiplock_jobs_given_up_total',
  'Background jobs that were given up, because they failed or were interrupted too often.',
  ['task'],
)

const REQUEST = 'request '
const TRACE = 'trace '

/** Notes with a job which request and which span caused it. They do not identify the job. */
export function causeFlags(): string[] | null {
  const work = currentWork()
  const requestId = work?.fields.request_id
  const flags = [
    ...(requestId === undefined ? [] : [REQUEST + requestId]),
    ...(work?.span ? [TRACE + work.span.traceparent] : []),
  ]
  return flags.length > 0 ? flags : null
}

type RunningJob = { name: string; id: string; payload: unknown; flags: object | null; attempts: number }

/** Runs a try of a job, as a part of the trace that caused it. Its log lines state its ids. */
export async function workOnJob(
  { name, id, payload, flags, attempts }: RunningJob,
  wasStopped: (error: unknown) => boolean,
  run: () => Promise<void>,
): Promise<void> {
  const startedAt = performance.now()
  const attributes = { 'shiplock.job': name, 'shiplock.job_id': id, 'shiplock.job_attempt': attempts }
  const span = startSpan({ name: `job ${name}`, kind: 'consumer', attributes, parent: noted(flags, TRACE) })
  const requestId = noted(flags, REQUEST)
  const orgId = orgOf(payload)
  const fields = { ...(requestId && { request_id: requestId }), ...(orgId && { org_id: orgId }), job: name, job_id: id }
  let outcome = 'succeeded'
  try {
    await within({ fields, span }, () => endWith(span, run()))
  } catch (error) {
    outcome = wasStopped(error) ? 'stopped' : 'failed'
    throw error
  } finally {
    seconds.observe({ task: name, outcome }, (performance.now() - startedAt) / 1000)
  }
}

/** The cause of a job for log lines that are written outside of it. */
export function fieldsOfJob({ id, flags }: Pick<RunningJob, 'id' | 'flags'>): object {
  const requestId = noted(flags, REQUEST)
  return { ...(requestId && { request_id: requestId }), job_id: id }
}

function noted(flags: object | null, prefix: string): string | null {
  const flag = Object.keys(flags ?? {}).find((key) => key.startsWith(prefix))
  return flag === undefined ? null : flag.slice(prefix.length)
}

function orgOf(payload: unknown): string | null {
  const { org_id } = (payload ?? {}) as { org_id?: unknown }
  return typeof org_id === 'string' ? org_id : null
}

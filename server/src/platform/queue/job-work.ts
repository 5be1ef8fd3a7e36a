import { defineCounter, defineHistogram } from '../metrics.ts'
import { getCurrentWork, settleSpan, startSpan, withWork } from '../tracing.ts'

const seconds = defineHistogram(
  'shiplock_job_duration_seconds',
  'Time of each try of a background job. A try that is stopped with its worker is repeated.',
  ['task', 'outcome'],
  [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900],
)

/** Jobs that are not tried again. */
export const givenUp = defineCounter(
  'shiplock_jobs_given_up_total',
  'Background jobs that were given up, because they failed or were interrupted too often.',
  ['task'],
)

/** Which request and which span caused a job. They do not identify it. */
type JobCause = { request_id: string | null; traceparent: string | null }

/** The cause of the jobs that the present work queues. */
export function getCurrentCause(): JobCause {
  const work = getCurrentWork()
  const requestId = work?.fields.request_id
  return { request_id: requestId === undefined ? null : `${requestId}`, traceparent: work?.span?.traceparent ?? null }
}

type JobTry = JobCause & { name: string; id: number; organization_id: string | null; attempts: number }

/** Runs a try of a job, as a part of the trace that caused it. Its log lines state its ids. */
export async function runJobTry(job: JobTry, wasStopped: () => boolean, run: () => Promise<void>): Promise<void> {
  const { name, attempts } = job
  const startedAt = performance.now()
  const attributes = { 'shiplock.job': name, 'shiplock.job_id': `${job.id}`, 'shiplock.job_attempt': attempts }
  const span = startSpan({ name: `job ${name}`, kind: 'consumer', attributes, parent: job.traceparent })
  let outcome = 'succeeded'
  try {
    await withWork({ fields: getJobFields(job), span }, () => settleSpan(span, run()))
  } catch (error) {
    outcome = wasStopped() ? 'stopped' : 'failed'
    throw error
  } finally {
    seconds.observe({ task: name, outcome }, (performance.now() - startedAt) / 1000)
  }
}

/** What log lines state about a job. */
export function getJobFields({ request_id, organization_id, name, id }: Omit<JobTry, 'attempts'>): object {
  return {
    ...(request_id && { request_id }),
    ...(organization_id && { org_id: organization_id }),
    job: name,
    job_id: `${id}`,
  }
}

import { AsyncLocalStorage } from 'node:async_hooks'

/** What every log line of a request or a job states. */
type WorkFields = {
  /** The request; in a job, the request that caused it. */
  request_id?: string
  org_id?: string
  job?: string
  job_id?: string
}

/** A part of a trace. Values never contain secrets, and no values of parameters. */
export type Span = {
  set(name: string, value: string | number): void
  /** The span and its trace in the form of `traceparent` (W3C Trace Context). */
  readonly traceparent: string
  end(error?: unknown): void
}

/** A request or a job that the program is working on. */
export type Work = { readonly fields: WorkFields; readonly span: Span | null }

const works = new AsyncLocalStorage<Work>()

/** The request or job that the caller belongs to. */
export function getCurrentWork(): Work | undefined {
  return works.getStore()
}

/** Runs something as a part of `work`, with all that it starts. */
export function withWork<Result>(work: Work, run: () => Result): Result {
  return works.run(work, run)
}

/** States the organization that the current request or job is about. */
export function assignOrganization(orgId: string): void {
  const work = works.getStore()
  if (!work) return
  work.fields.org_id = orgId
  work.span?.set('shiplock.org_id', orgId)
}

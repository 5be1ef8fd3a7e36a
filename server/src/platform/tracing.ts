import { AsyncLocalStorage } from 'node:async_hooks'

type Attributes = Record<string, string | number>

export type SpanKind = 'server' | 'client' | 'consumer' | 'internal'

type NewSpan = {
  name: string
  kind: SpanKind
  attributes?: Attributes
  /** The `traceparent` of the span that caused this one; null starts a trace. */
  parent: string | null
  /** Milliseconds since 1970; the default is now. */
  startedAt?: number
}

export type Tracer = {
  start(span: NewSpan): Span
  /** Sends the spans that are left, for a limited time. */
  close(): Promise<void>
}

/** Tracing is off until a tracer is opened, and then costs one comparison a span. */
let tracer: Tracer | null = null

export function traceWith(opened: Tracer | null): void {
  tracer = opened
}

/** Null while tracing is off. */
export function startSpan(span: NewSpan): Span | null {
  return tracer?.start(span) ?? null
}

/** Runs a part of the current request or job in a span of its own. It fails if `run` throws. */
export async function withSpan<Result>(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  run: (span: Span | null) => Promise<Result>,
): Promise<Result> {
  const work = getCurrentWork()
  const parent = work?.span
  const span = parent ? startSpan({ name, kind, attributes, parent: parent.traceparent }) : null
  if (!work || !span) return run(null)
  return withWork({ ...work, span }, () => settleSpan(span, run(span)))
}

/** Ends a span with the result of what it covers. */
export async function settleSpan<Result>(span: Span | null, running: Promise<Result>): Promise<Result> {
  try {
    const result = await running
    span?.end()
    return result
  } catch (error) {
    span?.end(error)
    throw error
  }
}

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

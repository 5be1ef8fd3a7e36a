import { setTimeout as delay } from 'node:timers/promises'
import type { Context, SpanContext } from '@opentelemetry/api'
import type { Log } from './log.ts'
import type { Span, Tracer } from './tracing.ts'

export type TracingSettings = Readonly<{
  /** The address of an OTLP/HTTP collector, without `/v1/traces`. */
  endpoint: string
  serviceName: string
  /** A value of `OTEL_TRACES_SAMPLER`. */
  sampler: (typeof SAMPLERS)[number]
  /** The share of traces that is kept, for the samplers that have one. */
  ratio: number
}>

/** The values of `OTEL_TRACES_SAMPLER` (OpenTelemetry, "SDK environment variables"). */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

const EXPORT_TIMEOUT_MS = 10_000
/** A stop does not wait longer for a collector that does not answer. */
const CLOSE_TIMEOUT_MS = 2_000
const WARN_EVERY_MS = 60_000

/**
 * Sends spans to a collector. The packages are loaded here, so that a program without tracing does
 * not pay for them. Spans wait in a bounded queue: when the collector fails, they are lost.
 */
export async function openOtlpTracer(settings: TracingSettings, part: string, log: Log): Promise<Tracer> {
  const [api, sdk, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  warnSeldom(api, log)
  const named = resources.resourceFromAttributes({ 'service.name': settings.serviceName, 'shiplock.part': part })
  const detected = resources.detectResources({ detectors: [resources.resourceAttributesEnvDetector] })
  const url = `${settings.endpoint}/v1/traces`
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: EXPORT_TIMEOUT_MS })
  const provider = new sdk.TracerProvider({
    resource: resources.defaultResource().merge(detected).merge(named),
    sampler: createSampler(sdk, settings),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_TIMEOUT_MS })],
  })
  const tracer = provider.getTracer('shiplock')
  return {
    start: ({ name, kind, attributes = {}, parent, startedAt }) => {
      const options = { kind: api.SpanKind[KINDS[kind]], attributes, ...(startedAt && { startTime: startedAt }) }
      return toSpan(api, tracer.startSpan(name, options, parseContext(api, parent)))
    },
    close: () => {
      const timeout = delay(CLOSE_TIMEOUT_MS, undefined, { ref: false })
      return Promise.race([provider.shutdown().catch(() => {}), timeout])
    },
  }
}

const KINDS = { server: 'SERVER', client: 'CLIENT', consumer: 'CONSUMER', internal: 'INTERNAL' } as const

type Api = typeof import('@opentelemetry/api')
type Sdk = typeof import('@opentelemetry/sdk-trace')

function createSampler(sdk: Sdk, { sampler, ratio }: TracingSettings) {
  const root = sampler.endsWith('always_off')
    ? new sdk.AlwaysOffSampler()
    : sampler.endsWith('always_on')
      ? new sdk.AlwaysOnSampler()
      : new sdk.TraceIdRatioBasedSampler(ratio)
  return sampler.startsWith('parentbased') ? new sdk.ParentBasedSampler({ root }) : root
}

function toSpan({ SpanStatusCode }: Api, span: import('@opentelemetry/api').Span): Span {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    set: (name, value) => void span.setAttribute(name, value),
    end: (error) => {
      // Messages of errors can contain values.
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: getErrorName(error) })
      span.end()
    },
  }
}

function getErrorName(error: unknown): string {
  if (!(error instanceof Error)) return 'error'
  return 'code' in error ? String(error.code) : error.name
}

const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/

/**
 * The version `ff` is invalid, and later versions may continue after the flags (W3C Trace Context
 * §3.2).
 */
function parseContext({ ROOT_CONTEXT, trace }: Api, traceparent: string | null): Context {
  const [, traceId, spanId, flags = ''] = TRACEPARENT.exec(traceparent ?? '') ?? []
  if (!traceId || !spanId || traceparent?.startsWith('ff')) return ROOT_CONTEXT
  const context: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  return trace.setSpanContext(ROOT_CONTEXT, context)
}

/** A collector that is away would otherwise fill the log. */
function warnSeldom({ diag, DiagLogLevel }: Api, log: Log): void {
  let warnedAt = Number.NEGATIVE_INFINITY
  const warn = (reason: string) => {
    if (performance.now() - warnedAt < WARN_EVERY_MS) return
    warnedAt = performance.now()
    log.warn({ reason: reason.slice(0, 300) }, 'Traces cannot be sent')
  }
  const silent = () => {}
  const logger = { error: warn, warn, info: silent, debug: silent, verbose: silent }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
}

import { logSlowStatements } from '../platform/db/client/statement-metrics.ts'
import { traceWith } from '../platform/telemetry/tracing.ts'
import type { Services } from '../services.ts'

/**
 * Turns on what the settings ask for in this thread: the log of slow statements, and traces.
 * Returns the function that turns it off and sends the traces that are left.
 */
export async function startTelemetry(
  { config, log }: Pick<Services, 'config' | 'log'>,
  part: 'api' | 'worker',
): Promise<() => Promise<void>> {
  logSlowStatements(config.slowQueryMs === 0 ? null : { log, slowMs: config.slowQueryMs })
  const tracer = config.tracing && (await openTracer(config.tracing, part, log))
  traceWith(tracer)
  return async () => {
    logSlowStatements(null)
    traceWith(null)
    await tracer?.close()
  }
}

/** Loads the tracer only if it is used. */
async function openTracer(settings: NonNullable<Services['config']['tracing']>, part: string, log: Services['log']) {
  const { openOtlpTracer } = await import('../platform/telemetry/otlp-tracer.ts')
  return openOtlpTracer(settings, part, log)
}

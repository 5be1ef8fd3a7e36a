import { setTimeout as delay } from 'node:timers/promises'
import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricType,
  type MetricValue,
  Registry,
} from 'prom-client'

/**
 * The metrics of this thread. Each is defined beside the code that it measures, once, and its
 * labels have few values.
 */
export const metrics = new Registry()

export type MetricValues = MetricObjectWithValues<MetricValue<string>>[]

/** Names end in `_total`. */
export function defineCounter<Label extends string = never>(
  name: string,
  help: string,
  labelNames: Label[] = [],
): Counter<Label> {
  return new Counter({ name, help, labelNames, registers: [metrics] })
}

/** Seconds of what takes from a millisecond to half a minute. */
const SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
/** Seconds of what takes from a second to a day. */
export const LONG_SECONDS = [1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400]

/** Names end in the unit, which is `_seconds` by default. */
export function defineHistogram<Label extends string = never>(
  name: string,
  help: string,
  labelNames: Label[] = [],
  buckets: number[] = SECONDS,
): Histogram<Label> {
  return new Histogram({ name, help, labelNames, buckets, registers: [metrics] })
}

export function defineGauge<Label extends string = never>(
  name: string,
  help: string,
  labelNames: Label[] = [],
  collect?: (this: Gauge<Label>) => void,
): Gauge<Label> {
  return new Gauge({ name, help, labelNames, registers: [metrics], ...(collect && { collect }) })
}

/** Measures how long something takes. `ok` and `failed` are its outcomes. */
export async function measureDuration<Result>(
  running: () => Promise<Result>,
  observe: (seconds: number, outcome: 'ok' | 'failed') => void,
): Promise<Result> {
  const startedAt = performance.now()
  let outcome: 'ok' | 'failed' = 'failed'
  try {
    const result = await running()
    outcome = 'ok'
    return result
  } finally {
    observe((performance.now() - startedAt) / 1000, outcome)
  }
}

/** Returns the metrics that another thread, or the database, has at the moment. It never fails. */
type MetricSource = () => Promise<MetricValues>

/** The worker threads of this process. */
export const threadMetrics = new Set<MetricSource>()

/** Measures the process itself: memory, processor, event loop. Later calls change nothing. */
export function measureProcess(): void {
  if (!metrics.getSingleMetric('process_start_time_seconds')) collectDefaultMetrics({ register: metrics })
}

/** The metrics of this process and of `more`, in the format of Prometheus. */
export async function readMetrics(more: MetricSource): Promise<{ contentType: string; text: string }> {
  const sources = [() => metrics.getMetricsAsJSON(), ...threadMetrics, more]
  const read = await Promise.all(sources.map((source) => source()))
  const all = AggregatorRegistry.aggregate(read.map((values) => values.map(keepFirst)))
  return { contentType: all.contentType, text: await all.metrics() }
}

/** The library leaves out what it cannot add up. We have it from one thread only. */
function keepFirst<Metric extends { aggregator: string }>(metric: Metric): Metric {
  return metric.aggregator === 'omit' ? { ...metric, aggregator: 'first' } : metric
}

type Sample = { value: number; labels?: Record<string, string> }

/** Figures that are read together, for example by one query. */
export type StateSource<Context> = {
  /** The names of its gauges, and what they state. */
  gauges: Record<string, string>
  /** The samples of each gauge. */
  read(context: Context): Promise<Record<string, Sample[]>>
}

/** What is read from the database is kept this long, however many servers scrape it. */
const KEPT_MS = 5_000
/** A scrape waits no longer for the database. */
const READ_TIMEOUT_MS = 2_000

const UP = 'shiplock_database_up'
const UP_HELP = '1 if the figures of the database could be read within 2 seconds, otherwise 0.'

/**
 * Reads figures of what is stored, such as waiting jobs. While the database does not answer, they
 * are missing, and `shiplock_database_up` is 0. At most one read is in progress.
 */
export function createStateMetrics<Context>(context: Context, sources: readonly StateSource<Context>[]): MetricSource {
  let reading: Promise<void> | null = null
  let last: { at: number; values: MetricValues } | null = null
  const read = async () => {
    try {
      const all = await Promise.all(sources.map(async (source) => toMetrics(source, await source.read(context))))
      last = { at: performance.now(), values: [toMetric(UP, UP_HELP, [{ value: 1 }]), ...all.flat()] }
    } catch {
      last = null
    } finally {
      reading = null
    }
  }
  return async () => {
    if (last && performance.now() - last.at < KEPT_MS) return last.values
    last = null
    reading ??= read()
    await Promise.race([reading, delay(READ_TIMEOUT_MS, undefined, { ref: false })])
    return (last as { values: MetricValues } | null)?.values ?? [toMetric(UP, UP_HELP, [{ value: 0 }])]
  }
}

function toMetrics<Context>({ gauges }: StateSource<Context>, read: Record<string, Sample[]>): MetricValues {
  return Object.entries(gauges).map(([name, help]) => toMetric(name, help, read[name] ?? []))
}

function toMetric(name: string, help: string, samples: Sample[]): MetricValues[number] {
  const values = samples.map(({ value, labels = {} }) => ({ value, labels }))
  const type = 'gauge' as unknown as MetricType
  return { name, help, values, type, aggregator: 'first', collect: () => {} }
}

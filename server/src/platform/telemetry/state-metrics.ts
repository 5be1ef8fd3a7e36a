import type { MetricType } from 'prom-client'
import type { MetricSource, MetricValues } from './metrics.ts'

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
    await Promise.race([reading, elapsed(READ_TIMEOUT_MS)])
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

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref())
}

import { defineHistogram, measureDuration } from '../metrics.ts'
import { withSpan } from '../tracing.ts'
import { ObjectNotFoundError, type ObjectStore } from './object-store.ts'

const seconds = defineHistogram(
  'shiplock_object_store_duration_seconds',
  'Time of operations of the object store. Reading is measured until the last byte is taken.',
  ['operation', 'outcome'],
)

const MEASURED = ['stat', 'remove', 'write', 'check', 'sweep'] as const

/** The same store, which measures its operations and states them in traces. */
export function observeStore<Store extends ObjectStore>(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name === 'read') return (key: string) => observedRead(target, key)
      const method = value.bind(target)
      const operation = MEASURED.find((measured) => measured === name)
      return operation ? (...given: unknown[]) => observed(operation, () => method(...given)) : method
    },
  })
}

function observed<Result>(operation: string, run: () => Promise<Result>): Promise<Result> {
  return measureDuration(
    () => withSpan(`objects ${operation}`, 'client', {}, run),
    (duration, outcome) => seconds.observe({ operation, outcome }, duration),
  )
}

async function* observedRead(store: ObjectStore, key: string): AsyncIterable<Uint8Array> {
  const startedAt = performance.now()
  // A reader that stops before the end has not failed.
  let outcome = 'ok'
  try {
    yield* store.read(key)
  } catch (error) {
    if (!(error instanceof ObjectNotFoundError)) outcome = 'failed'
    throw error
  } finally {
    seconds.observe({ operation: 'read', outcome }, (performance.now() - startedAt) / 1000)
  }
}

/** A value that is made by the first call and kept. */
export type Lazy<T> = { (): T; readonly isLazy: true }

/**
 * What takes milliseconds to make and few processes need: compiled schemas, and the modules of jobs
 * that the API queues and does not run.
 */
export function lazy<T>(make: () => T): Lazy<T> {
  let made: { value: T } | undefined
  const read = () => {
    made ??= { value: make() }
    return made.value
  }
  return Object.assign(read, { isLazy: true as const })
}

/**
 * What is made by the first call and kept. For what takes milliseconds to make and few processes
 * need, such as compiled schemas.
 */
export function whenNeeded<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

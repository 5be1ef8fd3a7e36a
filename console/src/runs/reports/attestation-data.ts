// The data of an attestation as it was sent. Figures may be absent, and lists may hold anything, so
// each value is checked before it is shown.

export type Data = Record<string, unknown>
export type TestFailure = { name: string; suite: string | null; message: string | null }
type SlowTest = { name: string; seconds: number }

/** A number from 0. Null for anything else. */
export function numberIn(data: Data, key: string): number | null {
  const value = data[key]
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null
}

/** A text that is not empty. Null for anything else. */
export function textIn(data: Data, ...keys: string[]): string | null {
  const found = keys.map((key) => data[key]).find((value) => typeof value === 'string' && value.trim() !== '')
  return (found as string | undefined) ?? null
}

/** The failed tests. `stack` follows the message unless it repeats it. */
export function failuresIn({ failures }: Data): TestFailure[] {
  return listOf(failures).map((failure, index) => {
    if (typeof failure === 'string') return { name: failure, suite: null, message: null }
    const data = objectOf(failure)
    const [message, stack] = [textIn(data, 'message', 'error'), textIn(data, 'stack', 'details')]
    const parts = stack?.includes(message ?? '') ? [stack] : [message, stack]
    return {
      name: textIn(data, 'name', 'title') ?? `Test ${index + 1}`,
      suite: textIn(data, 'suite', 'classname', 'file'),
      message: parts.filter(Boolean).join('\n') || null,
    }
  })
}

/** The names of tests that passed after a failed try. */
export function flakyIn({ flakyTests }: Data): string[] {
  return listOf(flakyTests).flatMap((test) => textIn(objectOf(test), 'name') ?? [])
}

const SLOWEST_MAX = 5

/** The slowest tests, where the job has sent them. */
export function slowestIn(data: Data): SlowTest[] {
  const tests = listOf(data.slowest).map((test) => {
    const { name, seconds } = {
      name: textIn(objectOf(test), 'name'),
      seconds: numberIn(objectOf(test), 'durationSeconds'),
    }
    return { name: name ?? '', seconds: seconds ?? -1 }
  })
  return tests
    .filter(({ name, seconds }) => name !== '' && seconds >= 0)
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST_MAX)
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function objectOf(value: unknown): Data {
  return typeof value === 'object' && value !== null ? (value as Data) : {}
}

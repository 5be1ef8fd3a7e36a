import { DURATION_DAYS_MAX, durationMs } from '../platform/duration.ts'
import { UsageError } from './command.ts'

/** The value of an option with a fixed set of values. Throws a `UsageError` that lists them. */
export function requireOneOf<Choice extends string>(option: string, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((known) => known === text)
  if (choice !== undefined) return choice
  throw new UsageError(`--${option} must be one of ${choices.join(', ')}, not "${text}"`)
}

/** Converts `90d`, `12h` or `30m` to milliseconds; at most ten years. Throws a `UsageError`. */
export function parseDuration(option: string, text: string): number {
  const ms = durationMs(text)
  if (ms !== null) return ms
  throw new UsageError(`--${option} must be a time like 90d, 12h or 30m, at most ${DURATION_DAYS_MAX}d, not "${text}"`)
}

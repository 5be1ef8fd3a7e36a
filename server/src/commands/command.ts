import type { Config } from '../config.ts'
import { DURATION_DAYS_MAX, parseDurationMs } from '../platform/duration.ts'

/** One `--option` of a command. A `list` can be repeated; a `flag` has no value. */
export type Option = {
  type: 'text' | 'list' | 'flag'
  /** The placeholder of the value in the help: `N`, `owner/name`. Empty for a flag. */
  value: string
  about: string
  required?: boolean
}

export type Options = Readonly<Record<string, Option>>

export type OptionValue = string | string[] | boolean | undefined

/** The values of a command's options, by name. */
type OptionValues<Of extends Options> = {
  [Name in keyof Of]: Of[Name]['type'] extends 'list'
    ? string[]
    : Of[Name]['type'] extends 'flag'
      ? boolean
      : Of[Name]['required'] extends true
        ? string
        : string | undefined
}

export type Context = {
  /** Reads the environment. Throws `ConfigError`. */
  readSettings: () => Config
  /** Progress, one line each, on standard error. */
  say: (line: string) => void
  /** Prints the result on standard output: one JSON document with `--json`, otherwise text. */
  print: (output: Output) => void
}

export type Output = { json: unknown; text: string }

/**
 * A command of the server program. To fail, it throws an error whose message is shown to the user
 * in one line.
 */
export type Command<Argument extends string = string, Of extends Options = Options> = {
  name: string
  about: string
  /** Names of the positional arguments. All are required. */
  arguments: readonly Argument[]
  options: Of
  run(context: Context, given: Record<Argument, string>, options: OptionValues<Of>): Promise<void>
}

/** A command as the program calls it. Its own types were checked by `defineCommand`. */
export type AnyCommand = Omit<Command, 'run'> & {
  run(context: Context, given: Record<string, string>, options: Record<string, OptionValue>): Promise<void>
}

/** Defines a command. `run` gets the types of its arguments and options. */
export function defineCommand<const Argument extends string, const Of extends Options>(
  command: Command<Argument, Of>,
): AnyCommand {
  return command as unknown as AnyCommand
}

/** A mistake on the command line. The exit code is 2. */
export class UsageError extends Error {}

/** A stop takes this long at most, also when the database does not answer any more. */
const STOP_MS_MAX = 40_000

/**
 * Resolves on the first SIGTERM or SIGINT. Later signals are ignored, so that they do not end the
 * process in the middle of a clean stop. The process ends after 40 s in any case: what is
 * unfinished then is mended as after a crash.
 */
export async function waitForStop(): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve())
  })
  setTimeout(() => {
    process.stderr.write(`Stopping took longer than ${STOP_MS_MAX / 1000} s; ending\n`)
    process.exit(1)
  }, STOP_MS_MAX).unref()
}

/** The value of an option with a fixed set of values. Throws a `UsageError` that lists them. */
export function requireChoice<Choice extends string>(option: string, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((known) => known === text)
  if (choice !== undefined) return choice
  throw new UsageError(`--${option} must be one of ${choices.join(', ')}, not "${text}"`)
}

/** The value of `--limit`. Throws a `UsageError` if it is not an integer from 1 to `max`. */
export function requireLimit(text: string, max: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= max) return Number(text)
  throw new UsageError(`--limit must be an integer from 1 to ${max}, not "${text}"`)
}

/** Converts `90d`, `12h` or `30m` to milliseconds; at most ten years. Throws a `UsageError`. */
export function parseDuration(option: string, text: string): number {
  const ms = parseDurationMs(text)
  if (ms !== null) return ms
  throw new UsageError(`--${option} must be a time like 90d, 12h or 30m, at most ${DURATION_DAYS_MAX}d, not "${text}"`)
}

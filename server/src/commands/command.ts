import type { Config } from '../config.ts'

/** What this program is called on a command line. */
export const PROGRAM = 'shiplock-server'

/** One `--option` of a command. A `list` may be given more than once; a `flag` has no value. */
export type Option = {
  type: 'text' | 'list' | 'flag'
  /** What stands for the value in the help: `N`, `owner/name`. Empty for a flag. */
  value: string
  about: string
  required?: boolean
}

export type Options = Readonly<Record<string, Option>>

export type OptionValue = string | string[] | boolean | undefined

/** The values of a command's options by name. */
export type OptionValues<Of extends Options> = {
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
  /** What the command was asked for, on standard output: one JSON document with `--json`, else text for people. */
  print: (output: Output) => void
}

export type Output = { json: unknown; text: string }

/** A command of the server program. It reports failure by throwing; the message is the one line that the user reads. */
export type Command<Argument extends string = string, Of extends Options = Options> = {
  name: string
  about: string
  /** Positional arguments, all of them required. */
  arguments: readonly Argument[]
  options: Of
  run(context: Context, given: Record<Argument, string>, options: OptionValues<Of>): Promise<void>
}

/** What the program calls: a command whose own types have been checked where it was written. */
export type AnyCommand = Omit<Command, 'run'> & {
  run(context: Context, given: Record<string, string>, options: Record<string, OptionValue>): Promise<void>
}

/** Writes a command down so that `run` gets its arguments and options with their types. */
export function defineCommand<const Argument extends string, const Of extends Options>(
  command: Command<Argument, Of>,
): AnyCommand {
  return command as unknown as AnyCommand
}

/** The caller's mistake: exit code 2. */
export class UsageError extends Error {}

/**
 * Resolves at the first SIGTERM or SIGINT. Listening goes on for good: a second signal finds the stop under way and
 * changes nothing, instead of ending the process in the middle of it.
 */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve())
  })
}

import type { Options, OptionValue, OptionValues } from './options.ts'
import type { Output } from './output.ts'

/** The positional arguments of a command. */
export type Positionals = {
  /** The placeholder in the help, such as `FILE`. */
  value: string
  /** How many there are: one, at least one, or what follows `--`, options included. */
  count: 'one' | 'many' | 'rest'
  choices?: readonly string[]
}

export type Given<Of extends Options = Options> = { options: OptionValues<Of>; positionals: string[] }

/** What a command may use of the process. */
export type Context = {
  env: NodeJS.ProcessEnv
  cwd: string
  stdin: NodeJS.ReadStream
  output: Output
  /** Aborted by the first Ctrl-C or SIGTERM. Its reason is an `Interrupted`. */
  signal: AbortSignal
  /** All commands of the program, for shell completion. */
  commands(): Promise<AnyCommand[]>
}

/** A command of the program. Its help and its shell completion are made from this definition. */
type Command<Of extends Options = Options> = {
  /** One or two words: `login`, `run start`. */
  name: string
  /** One line for the list of commands. */
  summary: string
  /** Paragraphs of the help. */
  details: readonly string[]
  positionals?: Positionals
  options: Of
  examples: readonly string[]
  /**
   * Returns the exit code. Throws a `UsageError` for a wrong call; every other error is shown in one
   * line and is exit code 1.
   */
  run(given: Given<Of>, context: Context): Promise<number>
}

/** A command as the program calls it. Its own types were checked by `defineCommand`. */
export type AnyCommand = Omit<Command, 'run'> & {
  run(given: { options: Record<string, OptionValue>; positionals: string[] }, context: Context): Promise<number>
}

/** Defines a command. `run` gets the types of its options. */
export function defineCommand<const Of extends Options>(command: Command<Of>): AnyCommand {
  return command as unknown as AnyCommand
}

/** Ctrl-C or SIGTERM has ended the command. */
export class Interrupted extends Error {
  readonly signal: NodeJS.Signals

  constructor(signal: NodeJS.Signals) {
    super(`Interrupted by ${signal}`)
    this.signal = signal
  }
}

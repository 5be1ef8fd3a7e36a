import {
  integerOption,
  type Options,
  type OptionValue,
  type OptionValues,
  readOptions,
  splitArguments,
  UsageError,
} from '@shiplock/command-line/options'
import { oneLine } from '@shiplock/command-line/printable'
import type { Config } from '../config.ts'
import { DURATION_DAYS_MAX, parseDurationMs } from '../platform/clock.ts'
import { ApiError } from '../platform/http/api-error.ts'

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

type ParsedArguments = {
  help: boolean
  json: boolean
  given: Record<string, string>
  options: Record<string, OptionValue>
}

/** The options that every command has. */
export const COMMON_OPTIONS: Options = {
  json: { type: 'flag', value: '', about: 'print one JSON document on standard output' },
  help: { type: 'flag', value: '', about: 'print this help', short: 'h' },
}

/**
 * Parses the arguments after a command's name. Throws a `UsageError` with a message of one line.
 */
export function parseArguments(command: AnyCommand, args: string[]): ParsedArguments {
  const { values, positionals } = splitArguments({ ...command.options, ...COMMON_OPTIONS }, args)
  const flags = { help: values.help !== undefined, json: values.json !== undefined }
  if (flags.help) return { ...flags, given: {}, options: {} }
  const options = readOptions(command.options, values)
  return { ...flags, given: nameArguments(command, positionals), options }
}

function nameArguments(command: AnyCommand, positionals: string[]): Record<string, string> {
  const missing = command.arguments[positionals.length]
  if (missing !== undefined) throw new UsageError(`<${missing}> is missing`)
  const surplus = positionals[command.arguments.length]
  if (surplus !== undefined) throw new UsageError(`Unexpected argument '${surplus}'`)
  return Object.fromEntries(command.arguments.map((name, index) => [name, positionals[index] ?? '']))
}

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

/** The value of `--limit`. Throws a `UsageError` if it is not an integer from 1 to `max`. */
export function requireLimit(text: string, max: number): number {
  return integerOption('limit', text, [1, max])
}

/** Converts `90d`, `12h` or `30m` to milliseconds; at most ten years. Throws a `UsageError`. */
export function parseDuration(option: string, text: string): number {
  const ms = parseDurationMs(text)
  if (ms !== null) return ms
  throw new UsageError(`--${option} must be a time like 90d, 12h or 30m, at most ${DURATION_DAYS_MAX}d, not "${text}"`)
}

/** Pads each column to the width of its widest cell, with two spaces between columns. */
export function formatColumns(rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  return rows.map((row) => joinCells(row.map((cell, column) => cell.padEnd(widths[column] ?? 0))))
}

function joinCells(cells: string[]): string {
  return cells.join('  ').trimEnd()
}

/**
 * A table with a heading and one line for each row, or `whenEmpty` if there are no rows. Control
 * characters in names that people have chosen do not reach the terminal.
 */
export function formatTable(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  whenEmpty: string,
): string {
  const shown = rows.map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}/gu, '?')))
  return rows.length === 0 ? whenEmpty : formatColumns([heading, ...shown]).join('\n')
}

/** Reads a secret from standard input, without the line break at its end. */
export async function readStandardInput(charsMax: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin) {
    bytes += chunk.length
    if (bytes > 2 * charsMax) throw new UsageError('Standard input is longer than a token can be')
    chunks.push(chunk)
  }
  const token = Buffer.concat(chunks).toString().trim()
  if (token === '') throw new UsageError('Standard input is empty')
  return token
}

/** Error codes of sockets and of our client which mean that the database is unreachable. */
const UNREACHABLE = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'CONNECT_TIMEOUT',
]

/**
 * Describes an error in one line, without a stack. An AggregateError of Node has no message of its
 * own. A 503 tells the operator its cause, which it hides from callers of the API.
 */
export function describeFailure(error: unknown): string {
  if (error instanceof ApiError && error.status === 503) return describeFailure(error.cause)
  if (error instanceof AggregateError && error.errors.length > 0) return describeFailure(error.errors[0])
  const text = oneLine((error instanceof Error ? error.message || error.name : String(error)).trim())
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return UNREACHABLE.includes(code) ? `The database cannot be reached (${text}); check DATABASE_URL` : text
}

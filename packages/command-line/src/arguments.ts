import type { AnyCommand, Positionals } from './command.ts'
import { type OptionValue, readOptions, splitArguments, UsageError } from './options.ts'

type Parsed = { options: Record<string, OptionValue>; positionals: string[] }

/** Parses the arguments after a command's name. Throws a `UsageError` with a message of one line. */
export function parseArguments(command: Pick<AnyCommand, 'options' | 'positionals'>, args: string[]): Parsed {
  const { values, positionals } = splitArguments(command.options, args)
  const options = readOptions(command.options, values)
  checkPositionals(command.positionals, positionals)
  return { options, positionals }
}

/** Whether the arguments ask for help. What follows `--` belongs to another program. */
export function asksForHelp(args: string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end < 0 ? args.length : end).some((argument) => argument === '--help' || argument === '-h')
}

function checkPositionals(expected: Positionals | undefined, given: string[]): void {
  if (expected === undefined) {
    if (given[0] !== undefined) throw new UsageError(`Unexpected argument "${given[0]}"`)
    return
  }
  const { value, count, choices } = expected
  if (count === 'one' && given.length !== 1) throw new UsageError(`Give one ${value}`)
  if (given.length === 0)
    throw new UsageError(count === 'rest' ? `Give a ${value} after --` : `Give at least one ${value}`)
  const wrong = choices && given.find((argument) => !choices.includes(argument))
  if (wrong !== undefined) throw new UsageError(`${value} must be one of ${choices?.join(', ')}, not "${wrong}"`)
}

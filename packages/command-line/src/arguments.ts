import { type ParseArgsConfig, parseArgs } from 'node:util'
import { type AnyCommand, type Option, type OptionValue, type Positionals, UsageError } from './command.ts'

type Parsed = { options: Record<string, OptionValue>; positionals: string[] }

/** Parses the arguments after a command's name. Throws a `UsageError` with a message of one line. */
export function parseArguments(command: Pick<AnyCommand, 'options' | 'positionals'>, args: string[]): Parsed {
  const { values, positionals } = parseStrictly(command.options, args)
  const options = Object.entries(command.options).map(([name, option]) => [
    name,
    readOption(name, option, values[name]),
  ])
  checkPositionals(command.positionals, positionals)
  return { options: Object.fromEntries(options), positionals }
}

/** Whether the arguments ask for help. What follows `--` belongs to another program. */
export function asksForHelp(args: string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end < 0 ? args.length : end).some((argument) => argument === '--help' || argument === '-h')
}

/** Accepts every option repeatedly, so that a second value is refused instead of replacing the first. */
function parseStrictly(options: AnyCommand['options'], args: string[]) {
  const config = Object.entries(options).map(([name, { type }]) => [
    name,
    { type: type === 'flag' ? 'boolean' : 'string', multiple: true },
  ])
  try {
    const parsed = parseArgs({
      args,
      options: Object.fromEntries(config) as NonNullable<ParseArgsConfig['options']>,
      strict: true,
      allowPositionals: true,
    })
    return {
      values: parsed.values as Record<string, (string | boolean)[] | undefined>,
      positionals: parsed.positionals,
    }
  } catch (error) {
    const [firstSentence = ''] = (error as Error).message.split(/\n|\. /)
    throw new UsageError(firstSentence.replace(/\.$/, ''))
  }
}

function readOption(name: string, option: Option, given: (string | boolean)[] = []): OptionValue {
  if (option.type === 'flag') return given.length > 0
  const values = given as string[]
  if (values.includes('')) throw new UsageError(`--${name} must have a value`)
  const wrong = option.choices && values.find((value) => !option.choices?.includes(value))
  if (wrong !== undefined) {
    throw new UsageError(`--${name} must be one of ${option.choices?.join(', ')}, not "${wrong}"`)
  }
  if (option.type === 'list') return values
  if (values.length > 1) throw new UsageError(`--${name} can be given only once`)
  return values[0]
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

/** Reads an integer option. Throws a `UsageError` if it is outside of the range. */
export function integerOption(name: string, text: string, [min, max]: readonly [number, number]): number {
  const number = Number(text)
  if (/^\d{1,15}$/.test(text) && number >= min && number <= max) return number
  throw new UsageError(`--${name} must be an integer from ${min} to ${max}, not "${text}"`)
}

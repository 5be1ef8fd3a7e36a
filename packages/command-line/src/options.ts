import { type ParseArgsConfig, parseArgs } from 'node:util'

/** One `--option` of a command. A `list` can be repeated. A `flag` has no value. */
export type Option = {
  type: 'text' | 'list' | 'flag'
  /** The placeholder of the value in the help, such as `FILE`. Empty for a flag. */
  value: string
  about: string
  /** The only values that are allowed. The shell completes them. */
  choices?: readonly string[]
  required?: boolean
  /** One letter that stands for the name: `-h` for `--help`. */
  short?: string
}

export type Options = Readonly<Record<string, Option>>

export type OptionValue = string | string[] | boolean | undefined

/** The values of a command's options, by name. */
export type OptionValues<Of extends Options> = {
  [Name in keyof Of]: Of[Name]['type'] extends 'list'
    ? string[]
    : Of[Name]['type'] extends 'flag'
      ? boolean
      : Of[Name]['required'] extends true
        ? string
        : string | undefined
}

/** A mistake on the command line. Its message is one line. The exit code is 2. */
export class UsageError extends Error {}

/** Options as they are written, by name, and what is no option. */
type Split = { values: Readonly<Record<string, (string | boolean)[] | undefined>>; positionals: string[] }

/**
 * Tells options from other arguments. Accepts every option repeatedly, so that a second value is
 * refused instead of replacing the first. Throws a `UsageError` for an unknown option.
 */
export function splitArguments(options: Options, args: string[]): Split {
  const config = Object.entries(options).map(([name, { type, short }]) => [
    name,
    { type: type === 'flag' ? 'boolean' : 'string', multiple: true, ...(short !== undefined && { short }) },
  ])
  try {
    const parsed = parseArgs({
      args,
      options: Object.fromEntries(config) as NonNullable<ParseArgsConfig['options']>,
      strict: true,
      allowPositionals: true,
    })
    return { values: parsed.values as Split['values'], positionals: parsed.positionals }
  } catch (error) {
    const [firstSentence = ''] = (error as Error).message.split(/\n|\. /)
    throw new UsageError(firstSentence.replace(/\.$/, ''))
  }
}

/** Checks the values of options. Throws a `UsageError` for the first one that is missing or wrong. */
export function readOptions(options: Options, values: Split['values']): Record<string, OptionValue> {
  const read = Object.entries(options).map(([name, option]) => [name, readOption(name, option, values[name])])
  return Object.fromEntries(read)
}

function readOption(name: string, option: Option, given: readonly (string | boolean)[] = []): OptionValue {
  const { type, value, choices, required } = option
  if (type === 'flag') return given.length > 0
  const values = given as string[]
  if (required && values.length === 0) throw new UsageError(`--${name} ${value} is missing`)
  if (values.includes('')) throw new UsageError(`--${name} must have a value`)
  if (choices !== undefined) for (const text of values) requireChoice(name, text, choices)
  if (type === 'list') return values
  if (values.length > 1) throw new UsageError(`--${name} can be given only once`)
  return values[0]
}

/** The value of an option with a fixed set of values. Throws a `UsageError` that lists them. */
export function requireChoice<Choice extends string>(option: string, text: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((known) => known === text)
  if (choice !== undefined) return choice
  throw new UsageError(`--${option} must be one of ${choices.join(', ')}, not "${text}"`)
}

/** Reads an integer option. Throws a `UsageError` if it is outside of the range. */
export function integerOption(name: string, text: string, [min, max]: readonly [number, number]): number {
  const number = Number(text)
  if (/^\d{1,15}$/.test(text) && number >= min && number <= max) return number
  throw new UsageError(`--${name} must be an integer from ${min} to ${max}, not "${text}"`)
}

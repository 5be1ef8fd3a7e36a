import { type ParseArgsConfig, parseArgs } from 'node:util'
import { type AnyCommand, type Option, type OptionValue, UsageError } from './command.ts'

type ParsedArguments = {
  help: boolean
  json: boolean
  given: Record<string, string>
  options: Record<string, OptionValue>
}

/**
 * Parses the arguments after a command's name. Throws a `UsageError` with a message of one line.
 */
export function parseArguments(command: AnyCommand, args: string[]): ParsedArguments {
  const { values, positionals } = parseStrictly(command, args)
  const flags = { help: values.help !== undefined, json: values.json !== undefined }
  if (flags.help) return { ...flags, given: {}, options: {} }
  const options = Object.entries(command.options).map(([name, option]) => [
    name,
    readOption(name, option, values[name]),
  ])
  return { ...flags, given: nameArguments(command, positionals), options: Object.fromEntries(options) }
}

/**
 * Lets the parser accept every option repeatedly, so that a second value is refused instead of
 * replacing the first.
 */
function parseStrictly(command: AnyCommand, args: string[]) {
  const own = Object.entries(command.options).map(([name, { type }]) => [
    name,
    { type: parsedType(type), multiple: true },
  ])
  const options: ParseArgsConfig['options'] = {
    ...Object.fromEntries(own),
    help: { type: 'boolean', short: 'h', multiple: true },
    json: { type: 'boolean', multiple: true },
  }
  try {
    const parsed = parseArgs({ args, options, strict: true, allowPositionals: true })
    return {
      values: parsed.values as Record<string, (string | boolean)[] | undefined>,
      positionals: parsed.positionals,
    }
  } catch (error) {
    const [firstSentence = ''] = (error as Error).message.split(/\n|\. /)
    throw new UsageError(firstSentence.replace(/\.$/, ''))
  }
}

function parsedType(type: Option['type']): 'string' | 'boolean' {
  return type === 'flag' ? 'boolean' : 'string'
}

function readOption(name: string, option: Option, given: (string | boolean)[] = []): OptionValue {
  if (option.type === 'flag') return given.length > 0
  const values = given as string[]
  if (option.required && values.length === 0) throw new UsageError(`--${name} ${option.value} is missing`)
  if (values.includes('')) throw new UsageError(`--${name} must have a value`)
  if (option.type === 'list') return values
  if (values.length > 1) throw new UsageError(`--${name} can be given only once`)
  return values[0]
}

function nameArguments(command: AnyCommand, positionals: string[]): Record<string, string> {
  const missing = command.arguments[positionals.length]
  if (missing !== undefined) throw new UsageError(`<${missing}> is missing`)
  const surplus = positionals[command.arguments.length]
  if (surplus !== undefined) throw new UsageError(`Unexpected argument '${surplus}'`)
  return Object.fromEntries(command.arguments.map((name, index) => [name, positionals[index] ?? '']))
}

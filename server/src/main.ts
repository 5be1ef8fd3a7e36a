import { type AnyCommand, type Output, UsageError } from './commands/command.ts'
import { COMMANDS } from './commands/commands.ts'
import { describeFailure } from './commands/describe-failure.ts'
import { commandHelp, PROGRAM, programHelp } from './commands/help.ts'
import { parseArguments } from './commands/parse-arguments.ts'
import { ConfigError, readConfig } from './config.ts'
import { ApiError } from './platform/http/errors.ts'

const FAILED = 1
const WRONGLY_CALLED = 2

const say = (line: string) => process.stderr.write(`${line}\n`)
process.exitCode = await main(process.argv.slice(2))

/** The server program: `shiplock-server <command>`. Answers its exit code. */
async function main(args: string[]): Promise<number> {
  if (args.length === 0 || isHelp(args[0])) {
    process.stdout.write(`${programHelp()}\n`)
    return args.length === 0 ? WRONGLY_CALLED : 0
  }
  const name = findName(args)
  if (name === null) return refuse(`there is no command "${args.slice(0, 2).join(' ')}"`, '')
  const command = await COMMANDS[name]?.load()
  return command ? call(command, args.slice(name.split(' ').length)) : FAILED
}

function isHelp(word: string | undefined): boolean {
  return word === '--help' || word === '-h' || word === 'help'
}

/** `start`, or a family and its verb: `org create`. */
function findName(args: string[]): string | null {
  const names = [args[0] ?? '', args.slice(0, 2).join(' ')]
  return names.find((name) => Object.hasOwn(COMMANDS, name)) ?? null
}

async function call(command: AnyCommand, args: string[]): Promise<number> {
  try {
    const { help, json, given, options } = parseArguments(command, args)
    if (help) return printHelp(command)
    const print = (output: Output) => {
      const text = json ? JSON.stringify(output.json) : output.text
      if (text !== '') process.stdout.write(`${text}\n`)
    }
    await command.run({ readSettings: () => readConfig(process.env), say, print }, given, options)
    return 0
  } catch (error) {
    if (error instanceof ConfigError) return fail(error.mistakes)
    if (isUsersMistake(error)) return refuse(error.message, ` ${command.name}`)
    return fail([describeFailure(error)])
  }
}

/** A value that no one could accept, whether it was the command line or a rule that noticed. */
function isUsersMistake(error: unknown): error is Error {
  return error instanceof UsageError || (error instanceof ApiError && error.status === 400)
}

function printHelp(command: AnyCommand): number {
  process.stdout.write(`${commandHelp(command)}\n`)
  return 0
}

function refuse(message: string, command: string): number {
  say(`${message}; see ${PROGRAM}${command} --help`)
  return WRONGLY_CALLED
}

function fail(lines: string[]): number {
  for (const line of lines) say(line)
  return FAILED
}

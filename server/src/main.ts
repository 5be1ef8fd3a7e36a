import { type AnyCommand, type Output, PROGRAM, UsageError } from './commands/command.ts'
import { COMMANDS, type CommandName, isCommandName } from './commands/commands.ts'
import { describeFailure } from './commands/describe-failure.ts'
import { commandHelp, programHelp } from './commands/help.ts'
import { parseArguments } from './commands/parse-arguments.ts'
import { ConfigError, readConfig } from './config.ts'
import { ApiError } from './platform/http/errors.ts'

const FAILED = 1
const WRONGLY_CALLED = 2

const say = (line: string) => process.stderr.write(`${line}\n`)
process.exitCode = await main(process.argv.slice(2))

/** Runs the server program, `shiplock-server <command>`. Returns the exit code. */
async function main(args: string[]): Promise<number> {
  const name = findName(args)
  if (name === null && args.slice(0, 2).some(isHelp)) return answer(programHelp())
  if (args.length === 0) return refuse('No command is given', '')
  if (name === null) return refuse(`Unknown command "${args.slice(0, 2).join(' ')}"`, '')
  const command = await COMMANDS[name].load()
  return call(command, args.slice(name.split(' ').length))
}

function isHelp(argument: string): boolean {
  return argument === '--help' || argument === '-h' || argument === 'help'
}

/** The command's name: two words, such as `backup verify`, or else one, such as `backup`. */
function findName(args: string[]): CommandName | null {
  const names = [args.slice(0, 2).join(' '), args[0] ?? '']
  return names.find(isCommandName) ?? null
}

async function call(command: AnyCommand, args: string[]): Promise<number> {
  try {
    const { help, json, given, options } = parseArguments(command, args)
    if (help) return answer(commandHelp(command))
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

/** An invalid value, no matter whether the command line or a use case refused it. */
function isUsersMistake(error: unknown): error is Error {
  return error instanceof UsageError || (error instanceof ApiError && error.status === 400)
}

function answer(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

function refuse(message: string, command: string): number {
  say(`${message.replace(/\.$/, '')}; see ${PROGRAM}${command} --help`)
  return WRONGLY_CALLED
}

function fail(lines: string[]): number {
  for (const line of lines) say(line)
  return FAILED
}

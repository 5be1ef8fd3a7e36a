import { asksForHelp, parseArguments } from '@shiplock/command-line/arguments'
import { type AnyCommand, type Context, Interrupted } from '@shiplock/command-line/command'
import { commandHelp, commandList } from '@shiplock/command-line/help'
import { type OptionValue, UsageError } from '@shiplock/command-line/options'
import { Output } from '@shiplock/command-line/output'
import { oneLine, printable } from '@shiplock/command-line/printable'
import { exitCodeOf, onInterruption } from '@shiplock/command-line/signals'
import { COMMANDS, loadCommands } from './commands/commands.ts'
import { describeError, isShiplockError } from './program/describe-error.ts'
import { EXIT } from './program/exit-codes.ts'
import { refusedArgument } from './program/refused-argument.ts'

const PROGRAM = 'shiplock'

process.stdout.on('error', endWithoutOutput)
// Progress that nobody can read does not keep a command from its work.
process.stderr.on('error', () => {})
process.exitCode = await main(process.argv.slice(2))

/** Runs the program `shiplock <command>`. Returns the exit code. */
async function main(args: string[]): Promise<number> {
  const [first = '', second = ''] = args
  if (first === '--help' || first === '-h') return print(commandList(PROGRAM, await loadCommands()))
  if (first === 'help') return main([...args.slice(1), '--help'])
  const pair = `${first} ${second}`
  if (Object.hasOwn(COMMANDS, pair)) return runCommand(pair, args.slice(2))
  if (Object.hasOwn(COMMANDS, first)) return runCommand(first, args.slice(1))
  return refuseUnknown(first, args.slice(1))
}

/** The name of a group, such as `run`, stands for the list of its commands. */
async function refuseUnknown(name: string, rest: string[]): Promise<number> {
  const group = (await loadCommands()).filter((command) => command.name.startsWith(`${name} `))
  if (group.length > 0 && asksForHelp(rest)) return print(commandList(PROGRAM, group, name))
  const choices = group.map((command) => command.name.slice(name.length + 1)).join(', ')
  if (group.length > 0) return refuse(`${name} must be followed by one of ${choices}`, ` ${name}`)
  if (name === '') return showCommands()
  return refuse(name.startsWith('-') ? `${name} must follow a command` : `Unknown command "${name}"`, '')
}

async function showCommands(): Promise<number> {
  process.stderr.write(`${commandList(PROGRAM, await loadCommands())}\n`)
  return EXIT.wrongCall
}

async function runCommand(name: string, args: string[]): Promise<number> {
  const command = await (COMMANDS[name] as () => Promise<AnyCommand>)()
  if (asksForHelp(args)) return print(commandHelp(PROGRAM, command))
  let given: ReturnType<typeof parseArguments> | null = null
  try {
    given = parseArguments(command, args)
    return await command.run(given, contextFor(given.options))
  } catch (error) {
    if (error instanceof UsageError) return refuse(error.message, ` ${name}`)
    if (given !== null && isRefusalOf(given.options, error)) return refuse(describeError(error), ` ${name}`)
    if (error instanceof Interrupted) return exitCodeOf(error.signal)
    return fail(error)
  }
}

/** Whether the API refused a value that the command line holds, rather than one of the CI or of git. */
function isRefusalOf(options: Record<string, OptionValue>, error: unknown): boolean {
  const argument = isShiplockError(error) ? refusedArgument(error) : null
  return argument === 'ID' || (argument !== null && options[argument.slice(2)] !== undefined)
}

function contextFor({ json, quiet }: Record<string, OptionValue>): Context {
  const { env, stdin } = process
  let signal: AbortSignal | null = null
  return {
    env,
    cwd: process.cwd(),
    stdin,
    output: new Output(process, { json: json === true, quiet: quiet === true, env }),
    get signal() {
      signal ??= onInterruption()
      return signal
    },
    commands: loadCommands,
  }
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return EXIT.ok
}

function refuse(message: string, command: string): number {
  process.stderr.write(`shiplock: ${printable(oneLine(message))}; see shiplock${command} --help\n`)
  return EXIT.wrongCall
}

/** Prints an unexpected error in one line. A program that cannot finish has not verified anything. */
function fail(error: unknown): number {
  process.stderr.write(`shiplock: ${printable(describeError(error))}\n`)
  return EXIT.failure
}

/** The reader of the output may stop reading, such as `head`. */
function endWithoutOutput({ code, message }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') process.exit()
  process.stderr.write(`shiplock: Standard output cannot be written (${code ?? message})\n`)
  process.exit(EXIT.failure)
}

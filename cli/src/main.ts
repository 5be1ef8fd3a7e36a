import { type Command, UsageError } from './commands/command.ts'
import { verifyCommand } from './commands/verify.ts'

const COMMANDS: Command[] = [verifyCommand]
const WRONGLY_CALLED = 2

process.stdout.on('error', endOnClosedPipe)
process.exitCode = await main(process.argv.slice(2))

/** Runs the program `shiplock <command>`. Returns the exit code. */
async function main([name = '', ...args]: string[]): Promise<number> {
  if (isHelp(name)) return print(programHelp())
  const command = COMMANDS.find((known) => known.name === name)
  if (command === undefined) return refuse(name === '' ? 'No command is given' : `Unknown command "${name}"`, '')
  if (args.some(isHelp)) return print(command.help)
  try {
    return await command.run(args)
  } catch (error) {
    if (error instanceof UsageError) return refuse(error.message, ` ${command.name}`)
    return fail(error)
  }
}

function isHelp(argument: string): boolean {
  return argument === '--help' || argument === '-h'
}

function programHelp(): string {
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`)
  return ['usage: shiplock <command> [options]', '', ...lines, '', 'shiplock <command> --help shows its options.'].join(
    '\n',
  )
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

function refuse(message: string, command: string): number {
  process.stderr.write(`shiplock: ${message.replace(/\s*\n\s*/g, ' ')}; see shiplock${command} --help\n`)
  return WRONGLY_CALLED
}

/** Prints an unexpected error in one line. A program that cannot finish has not verified anything. */
function fail(error: unknown): number {
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`shiplock: ${message.replace(/\s*\n\s*/g, ' ')}\n`)
  return 1
}

/** The reader of the output may stop reading, such as `head`. */
function endOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
  process.exit()
}

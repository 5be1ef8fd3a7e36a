import { UsageError } from '@shiplock/command-line/options'
import { ConfigError, readConfig } from '../config.ts'
import { ApiError } from '../platform/http/api-error.ts'
import { PROGRAM } from '../start/terminal.ts'
import {
  type AnyCommand,
  COMMON_OPTIONS,
  describeFailure,
  formatColumns,
  type Output,
  parseArguments,
} from './command.ts'
import { COMMANDS, findName } from './commands.ts'

/** What a command line is run with: the environment, standard error by lines, standard output. */
export type Terminal = {
  env: Readonly<Record<string, string | undefined>>
  say: (line: string) => void
  write: (text: string) => void
}

const FAILED = 1
const WRONGLY_CALLED = 2

/** Runs `shiplock-server <args>`. Returns the exit code. */
export async function runCommandLine(args: string[], terminal: Terminal): Promise<number> {
  const name = findName(args)
  if (name === null && args.slice(0, 2).some((argument) => ['--help', '-h', 'help'].includes(argument)))
    return answer(terminal, formatProgramHelp())
  if (args.length === 0) return refuse(terminal, 'No command is given', '')
  if (name === null) return refuse(terminal, `Unknown command "${args.slice(0, 2).join(' ')}"`, '')
  const command = await COMMANDS[name].load()
  return call(command, args.slice(name.split(' ').length), terminal)
}

async function call(command: AnyCommand, args: string[], terminal: Terminal): Promise<number> {
  const { env, say, write } = terminal
  try {
    const { help, json, given, options } = parseArguments(command, args)
    if (help) return answer(terminal, formatCommandHelp(command))
    const print = (output: Output) => {
      const text = json ? JSON.stringify(output.json) : output.text
      if (text !== '') write(`${text}\n`)
    }
    await command.run({ readSettings: () => readConfig(env), say, print }, given, options)
    return 0
  } catch (error) {
    if (error instanceof ConfigError) return fail(terminal, error.mistakes)
    if (isUsersMistake(error)) return refuse(terminal, error.message, ` ${command.name}`)
    return fail(terminal, [describeFailure(error)])
  }
}

/** An invalid value, no matter whether the command line or a use case refused it. */
function isUsersMistake(error: unknown): error is Error {
  return error instanceof UsageError || (error instanceof ApiError && error.status === 400)
}

function answer({ write }: Terminal, text: string): number {
  write(`${text}\n`)
  return 0
}

function refuse({ say }: Terminal, message: string, command: string): number {
  say(`${message.replace(/\.$/, '')}; see ${PROGRAM}${command} --help`)
  return WRONGLY_CALLED
}

function fail({ say }: Terminal, lines: string[]): number {
  for (const line of lines) say(line)
  return FAILED
}

/** The text of `--help` without a command. */
function formatProgramHelp(): string {
  const commands = Object.entries(COMMANDS).map(([name, { about }]) => [`  ${name}`, about])
  return [
    `usage: ${PROGRAM} <command> [--json] [--help]`,
    '',
    ...formatColumns(commands),
    '',
    `${PROGRAM} <command> --help describes a command and its options.`,
    'Settings are environment variables, such as SHIPLOCK_DATA_DIR, SHIPLOCK_PORT and DATABASE_URL. See docs/operations.md.',
  ].join('\n')
}

function formatCommandHelp(command: AnyCommand): string {
  const options = Object.entries({ ...command.options, ...COMMON_OPTIONS }).map(([name, option]) => [
    `  --${name} ${option.value}`.trimEnd(),
    option.about,
  ])
  return [`usage: ${formatUsage(command)}`, '', command.about, '', ...formatColumns(options)].join('\n')
}

function formatUsage({ name, arguments: names, options }: AnyCommand): string {
  const usages = Object.entries(options).map(([option, { value, required, type }]) => {
    const usage = `--${option} ${value}${type === 'list' ? ' …' : ''}`.trimEnd()
    return required ? usage : `[${usage}]`
  })
  return [PROGRAM, name, ...names.map((argument) => `<${argument}>`), ...usages, '[--json]'].join(' ')
}

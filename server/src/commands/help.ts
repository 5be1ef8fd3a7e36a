import { PROGRAM } from '../start/program.ts'
import { type AnyCommand, COMMON_OPTIONS } from './command.ts'
import { COMMANDS } from './commands.ts'
import { formatColumns } from './table.ts'

/** The text of `--help` without a command. */
export function formatProgramHelp(): string {
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

export function formatCommandHelp(command: AnyCommand): string {
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

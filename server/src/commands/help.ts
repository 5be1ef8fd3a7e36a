import { type AnyCommand, PROGRAM } from './command.ts'
import { COMMANDS } from './commands.ts'
import { alignColumns } from './table.ts'

/** What `--help` alone answers. */
export function programHelp(): string {
  const commands = Object.entries(COMMANDS).map(([name, { about }]) => [`  ${name}`, about])
  return [
    `usage: ${PROGRAM} <command> [--json] [--help]`,
    '',
    ...alignColumns(commands),
    '',
    `${PROGRAM} <command> --help tells more about one of them.`,
    'Settings come from environment variables: SHIPLOCK_DATA_DIR, SHIPLOCK_PORT, DATABASE_URL and others.',
  ].join('\n')
}

export function commandHelp(command: AnyCommand): string {
  const options = Object.entries(command.options).map(([name, option]) => [
    `  --${name} ${option.value}`.trimEnd(),
    option.about,
  ])
  const common = [
    ['  --json', 'print one JSON document on standard output'],
    ['  --help', 'print this'],
  ]
  return [`usage: ${usageOf(command)}`, '', command.about, '', ...alignColumns([...options, ...common])].join('\n')
}

function usageOf({ name, arguments: names, options }: AnyCommand): string {
  const words = Object.entries(options).map(([option, { value, required, type }]) => {
    const word = `--${option} ${value}${type === 'list' ? ' …' : ''}`.trimEnd()
    return required ? word : `[${word}]`
  })
  return [PROGRAM, name, ...names.map((argument) => `<${argument}>`), ...words, '[--json]'].join(' ')
}

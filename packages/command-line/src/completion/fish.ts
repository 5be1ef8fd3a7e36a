import type { AnyCommand, Option } from '../program/command.ts'
import { firstWords, groupsOf, optionWords, positionalWords, type ValueWords } from './completion-words.ts'

/** The completion script for fish. */
export function writeFish(commands: AnyCommand[]): string {
  const first = firstWords(commands).map(({ name, summary }) => line('', [`-f -a ${name}`, `-d ${text(summary)}`]))
  const second = groupsOf(commands).flatMap(({ name, commands: own }) =>
    own.map((command) => line(name, [`-f -a ${command.name}`, `-d ${text(command.summary)}`])),
  )
  return `# shell completion for fish: shiplock completion fish > ~/.config/fish/completions/shiplock.fish
function __shiplock_is --description 'whether the words before the cursor are this command'
    set -l given (commandline -opc)
    set -e given[1]
    test (count $argv) -eq 0; and test (count $given) -eq 0; and return 0
    test (count $argv) -gt 0; or return 1
    test (count $given) -ge (count $argv); or return 1
    for index in (seq (count $argv))
        test "$given[$index]" = "$argv[$index]"; or return 1
    end
end
function __shiplock_group --description 'whether the only word before the cursor is this one'
    set -l given (commandline -opc)
    test (count $given) -eq 2; and test "$given[2]" = "$argv[1]"
end
complete -c shiplock -f
${[...first, line('', ['-l version', `-d ${text('print the version')}`]), ...second, ...commands.flatMap(commandLines)].join('\n')}
`
}

/** A completion after the words of a command; a single word of a group only completes its second. */
function line(words: string, parts: string[]): string {
  const isGroup = words !== '' && !words.includes('|')
  const condition =
    words === '' ? '__shiplock_is' : isGroup ? `__shiplock_group ${words}` : `__shiplock_is ${words.slice(1)}`
  return [`complete -c shiplock -n '${condition}'`, ...parts].join(' ')
}

function commandLines({ name, options, positionals }: AnyCommand): string[] {
  const rest =
    positionals?.count === 'rest' ? "-x -a '(__fish_complete_subcommand)'" : valueParts(positionalWords(positionals))
  return [
    ...Object.entries(options).map(([option, spec]) => line(`|${name}`, [`-l ${option}`, ...optionParts(spec)])),
    ...(rest === '-x' ? [] : [line(`|${name}`, [rest.replace(/^-x/, '-f').replace(/^-r -F$/, '-F')])]),
  ]
}

function optionParts(option: Option): string[] {
  const about = `-d ${text(option.about)}`
  return option.type === 'flag' ? [about] : [valueParts(optionWords(option)), about]
}

function valueParts(words: ValueWords): string {
  if (words === 'nothing') return '-x'
  return words === 'files' ? '-r -F' : `-x -a ${text(words.join(' '))}`
}

/** Text between single quotes of fish. */
function text(content: string): string {
  return `'${content.replace(/['\\]/g, '\\$&')}'`
}

import type { AnyCommand } from '../command.ts'
import type { Option } from '../options.ts'
import { firstWords, groupsOf, optionWords, positionalWords, type ValueWords } from './completion-words.ts'

/** The completion script for fish. */
export function writeFish(program: string, commands: AnyCommand[]): string {
  const first = firstWords(commands).map(({ name, summary }) =>
    line(program, '', [`-f -a ${name}`, `-d ${text(summary)}`]),
  )
  const second = groupsOf(commands).flatMap(({ name, commands: own }) =>
    own.map((command) => line(program, name, [`-f -a ${command.name}`, `-d ${text(command.summary)}`])),
  )
  return `# shell completion for fish: ${program} completion fish > ~/.config/fish/completions/${program}.fish
function __${program}_is --description 'whether the words before the cursor are this command'
    set -l given (commandline -opc)
    set -e given[1]
    test (count $argv) -eq 0; and test (count $given) -eq 0; and return 0
    test (count $argv) -gt 0; or return 1
    test (count $given) -ge (count $argv); or return 1
    for index in (seq (count $argv))
        test "$given[$index]" = "$argv[$index]"; or return 1
    end
end
function __${program}_group --description 'whether the only word before the cursor is this one'
    set -l given (commandline -opc)
    test (count $given) -eq 2; and test "$given[2]" = "$argv[1]"
end
complete -c ${program} -f
${[...first, line(program, '', ['-l version', `-d ${text('print the version')}`]), ...second, ...commands.flatMap((command) => commandLines(program, command))].join('\n')}
`
}

/** A completion after the words of a command; a single word of a group only completes its second. */
function line(program: string, words: string, parts: string[]): string {
  const isGroup = words !== '' && !words.includes('|')
  const condition =
    words === '' ? `__${program}_is` : isGroup ? `__${program}_group ${words}` : `__${program}_is ${words.slice(1)}`
  return [`complete -c ${program} -n '${condition}'`, ...parts].join(' ')
}

function commandLines(program: string, { name, options, positionals }: AnyCommand): string[] {
  const rest =
    positionals?.count === 'rest' ? "-x -a '(__fish_complete_subcommand)'" : valueParts(positionalWords(positionals))
  return [
    ...Object.entries(options).map(([option, spec]) =>
      line(program, `|${name}`, [`-l ${option}`, ...optionParts(spec)]),
    ),
    ...(rest === '-x' ? [] : [line(program, `|${name}`, [rest.replace(/^-x/, '-f').replace(/^-r -F$/, '-F')])]),
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

import type { AnyCommand } from '../command.ts'
import type { Option } from '../options.ts'
import { firstWords, groupsOf, optionWords, positionalWords, quote, type ValueWords } from './completion-words.ts'

/** The completion script for zsh. It works as a file in `fpath` and when it is sourced. */
export function writeZsh(program: string, commands: AnyCommand[]): string {
  const groups = groupsOf(commands).map(
    ({ name, commands: own }) => `    ${quote(name)})
      if (( CURRENT == 3 )); then _values_of ${quote(`command of ${name}`)} ${described(own)}; return; fi
      command="$command $words[3]"
      skip=2 ;;`,
  )
  return `#compdef ${program}
# shell completion for zsh: ${program} completion zsh > "$fpath[1]/_${program}"
_${program}() {
  local command=$words[2] skip=1
  _values_of() { local -a values; values=("\${@:2}"); _describe "$1" values; }
  if (( CURRENT == 2 )); then
    _values_of command ${described(firstWords(commands))} '--help:show the commands' '--version:print the version'
    return
  fi
  case $command in
${groups.join('\n')}
  esac
  words=("\${(@)words[skip+1,-1]}")
  (( CURRENT -= skip ))
  case $command in
${commands.map(commandCase).join('\n')}
  esac
}
if [[ $funcstack[1] == _${program} ]]; then _${program} "$@"; else compdef _${program} ${program}; fi
`
}

function described(entries: { name: string; summary: string }[]): string {
  return entries.map(({ name, summary }) => quote(`${name}:${summary}`)).join(' ')
}

function commandCase({ name, options, positionals }: AnyCommand): string {
  const specs = Object.entries(options).map(([option, spec]) => optionSpec(option, spec))
  const rest =
    positionals?.count === 'rest'
      ? quote('*::command:_normal')
      : positionals && quote(`*:${positionals.value}:${action(positionalWords(positionals))}`)
  const lines = [...specs, quote('--help[show the help]'), ...(rest ? [rest] : [])]
  return `    ${quote(name)}) _arguments ${lines.join(' \\\n      ')} ;;`
}

function optionSpec(name: string, option: Option): string {
  const repeated = option.type === 'list' ? '*' : ''
  const about = `--${name}[${escapeSpec(option.about)}]`
  if (option.type === 'flag') return quote(`${repeated}${about}`)
  return quote(`${repeated}${about}:${option.value}:${action(optionWords(option))}`)
}

function action(words: ValueWords): string {
  if (words === 'nothing') return ' '
  return words === 'files' ? '_files' : `(${words.join(' ')})`
}

function escapeSpec(text: string): string {
  return text.replace(/[[\]:\\]/g, '\\$&')
}

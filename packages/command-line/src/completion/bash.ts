import type { AnyCommand } from '../command.ts'
import { firstWords, groupsOf, optionWords, positionalWords, quote, type ValueWords } from './completion-words.ts'

/** The completion script for bash 3.2 and later. */
export function writeBash(program: string, commands: AnyCommand[]): string {
  const groups = groupsOf(commands)
  const subcommands = groups.map(
    ({ name, commands: own }) => `    ${quote(name)}) words=${list(own.map((c) => c.name))} ;;`,
  )
  const values = commands.flatMap(valueCases)
  const words = commands.map((command) => `    ${quote(command.name)}) words=${list(optionNames(command))} ;;`)
  return `# shell completion for bash: source <(${program} completion bash)
_${program}() {
  local word previous command words='' kind=words index first=2
  COMPREPLY=()
  word=\${COMP_WORDS[COMP_CWORD]}
  previous=\${COMP_WORDS[COMP_CWORD-1]}
  if [[ $word == '=' ]]; then word=''
  elif [[ $previous == '=' ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}; fi
  if (( COMP_CWORD == 1 )); then
    COMPREPLY=( $(compgen -W ${list([...firstWords(commands).map(({ name }) => name), '--help', '--version'])} -- "$word") )
    return
  fi
  command=\${COMP_WORDS[1]}
  case $command in
${subcommands.join('\n')}
  esac
  if [[ -n $words ]]; then
    if (( COMP_CWORD == 2 )); then
      COMPREPLY=( $(compgen -W "$words" -- "$word") )
      return
    fi
    command="$command \${COMP_WORDS[2]}"
    first=3
  fi
  for (( index = first; index < COMP_CWORD; index++ )); do
    if [[ \${COMP_WORDS[index]} == -- ]]; then
      if (( index == COMP_CWORD - 1 )); then kind=commands; else kind=files; fi
      previous=''
      break
    fi
  done
  words=''
  if [[ $kind == words ]]; then
    case "$command $previous" in
${values.join('\n')}
    *) case "$command $word" in
${words.map((line) => line.replace(/^ {4}'([^']*)'\)/, "      '$1 -'*)")).join('\n')}
      *) case "$command" in
${commands.map(positionalCase).join('\n')}
        esac ;;
      esac ;;
    esac
  fi
  local IFS=$'\\n'
  case $kind in
    words) IFS=$' \\t\\n'; COMPREPLY=( $(compgen -W "$words" -- "$word") ) ;;
    files) compopt -o filenames 2>/dev/null; COMPREPLY=( $(compgen -f -- "$word") ) ;;
    commands) COMPREPLY=( $(compgen -c -- "$word") ) ;;
  esac
}
complete -F _${program} ${program}
`
}

function valueCases({ name, options }: AnyCommand): string[] {
  return Object.entries(options)
    .filter(([, option]) => option.type !== 'flag')
    .map(([option, spec]) => `    ${quote(`${name} --${option}`)}) ${assign(optionWords(spec))} ;;`)
}

function positionalCase({ name, positionals }: AnyCommand): string {
  return `        ${quote(name)}) ${assign(positionalWords(positionals))} ;;`
}

function assign(words: ValueWords): string {
  if (words === 'nothing') return 'kind=nothing'
  return words === 'files' ? 'kind=files' : `words=${list(words)}`
}

function optionNames({ options }: AnyCommand): string[] {
  return [...Object.keys(options).map((name) => `--${name}`), '--help']
}

function list(words: readonly string[]): string {
  return quote(words.join(' '))
}

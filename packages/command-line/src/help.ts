import type { AnyCommand, Positionals } from './command.ts'
import type { Option } from './options.ts'

/** The text of `<program> <command> --help`. */
export function commandHelp(program: string, { name, details, positionals, options, examples }: AnyCommand): string {
  const shown = Object.entries(options).map(([option, spec]): Row => [optionName(option, spec), optionText(spec)])
  return [
    `usage: ${program} ${name} ${usageOf(positionals)}`,
    ...details.map((paragraph) => wrap(paragraph, WIDTH).join('\n')),
    ['options:', ...table([...shown, ['--help', 'show this help']])].join('\n'),
    ['examples:', ...examples.map((line) => `  ${line}`)].join('\n'),
  ].join('\n\n')
}

/** The text of `<program> --help`, or of a group of commands such as `<program> run --help`. */
export function commandList(program: string, commands: Pick<AnyCommand, 'name' | 'summary'>[], group = ''): string {
  const rows = commands.map(({ name, summary }): Row => [name, summary])
  return [
    `usage: ${program} ${group === '' ? '' : `${group} `}<command> [options]`,
    table(rows).join('\n'),
    `${program} <command> --help shows the options of a command, with examples. ${program} --version prints the version.`,
  ].join('\n\n')
}

type Row = [left: string, right: string]

const WIDTH = 80

/** Two columns. The text of the right one is wrapped. */
function table(rows: Row[]): string[] {
  const left = Math.max(...rows.map(([name]) => name.length)) + 2
  return rows.flatMap(([name, text]) =>
    wrap(text, WIDTH - left - 2).map((line, index) => `  ${(index === 0 ? name : '').padEnd(left)}${line}`),
  )
}

function wrap(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const extended = lines.at(-1) === '' ? word : `${lines.at(-1)} ${word}`
    if (extended.length <= width || lines.at(-1) === '') lines[lines.length - 1] = extended
    else lines.push(word)
  }
  return lines
}

function usageOf(positionals: Positionals | undefined): string {
  if (positionals === undefined) return '[options]'
  const { value, count, choices } = positionals
  if (count === 'rest') return `[options] -- ${value} [ARGUMENT...]`
  return `${choices?.join('|') ?? value}${count === 'many' ? '...' : ''} [options]`
}

function optionName(name: string, { type, value }: Option): string {
  return type === 'flag' ? `--${name}` : `--${name} ${value}`
}

function optionText({ type, about, choices }: Option): string {
  const values = choices === undefined ? '' : `: ${choices.join(', ')}`
  return `${about}${values}${type === 'list' ? '; may be repeated' : ''}`
}

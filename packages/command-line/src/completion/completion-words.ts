import type { AnyCommand, Positionals } from '../command.ts'
import type { Option } from '../options.ts'

/** What a shell completes for a value: one of these words, a file, or nothing. */
export type ValueWords = readonly string[] | 'files' | 'nothing'

export function optionWords({ value, choices }: Option): ValueWords {
  return wordsFor(value, choices)
}

export function positionalWords(positionals: Positionals | undefined): ValueWords {
  return positionals === undefined ? 'nothing' : wordsFor(positionals.value, positionals.choices)
}

/** Placeholders that stand for a path. */
const PATHS = ['FILE', 'GLOB']

function wordsFor(value: string, choices: readonly string[] | undefined): ValueWords {
  return choices ?? (PATHS.includes(value) ? 'files' : 'nothing')
}

/** A group of commands of two words, such as `run`, and the second words. */
type Group = { name: string; commands: { name: string; summary: string }[] }

export function groupsOf(commands: readonly AnyCommand[]): Group[] {
  const pairs = commands
    .filter(({ name }) => name.includes(' '))
    .map(({ name, summary }) => ({ parts: name.split(' '), summary }))
  const names = new Set(pairs.map(({ parts }) => parts[0] ?? ''))
  return [...names].map((name) => ({
    name,
    commands: pairs
      .filter(({ parts }) => parts[0] === name)
      .map(({ parts, summary }) => ({ name: parts[1] ?? '', summary })),
  }))
}

/** The first words, with what they do. */
export function firstWords(commands: readonly AnyCommand[]): { name: string; summary: string }[] {
  const single = commands.filter(({ name }) => !name.includes(' '))
  const groups = groupsOf(commands).map(({ name, commands: own }) => ({
    name,
    summary: own.map((command) => command.name).join(', '),
  }))
  return [...groups, ...single]
}

/** Text between single quotes of a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

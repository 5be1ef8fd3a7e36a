import type { Source } from '../support/source-imports.ts'

/** A function at the top of a file. */
type Definition = { name: string; path: string; isExported: boolean; lines: number }

const FUNCTION = /^(export )?(?:async )?function\*? (\w+)/
const SMALL_FILE_LINES = 40
const SMALL_FUNCTION_LINES = 7
const LONG_FUNCTION_LINES = 70

/** Figures of the structure of the server's sources, by name. */
export type House = Record<string, number>

/** Measures `sources`, which are the files below server/src without tests and without comments. */
export function measureHouse(sources: readonly Source[]): House {
  const functions = sources.flatMap(listFunctions)
  const exported = functions.filter(({ isExported }) => isExported)
  const inStores = exported.filter(({ path }) => path.endsWith('.store.ts'))
  return {
    files: sources.length,
    lines: sum(sources.map(({ lines }) => lines.length - 1)),
    folders: new Set(sources.map(({ path }) => folderOf(path))).size,
    'files at the root': sources.filter(({ path }) => !path.includes('/')).length,
    'files of at most 40 lines': sources.filter(({ lines }) => lines.length - 1 <= SMALL_FILE_LINES).length,
    ...measureWriters(sources),
    'first words of exported functions': firstWords(exported).length,
    'first words of functions of stores': firstWords(inStores).length,
    'functions named …Of': functions.filter(({ name }) => /[a-z]Of$/.test(name)).length,
    'private functions of at most 7 lines that are used once': countUsedOnce(sources, functions),
    'functions over 70 lines, in thousandths': Math.round(
      (1000 * functions.filter(({ lines }) => lines > LONG_FUNCTION_LINES).length) / functions.length,
    ),
    'files of code hosts': sources.filter(({ path }) => path.startsWith('codehosts/hosts/')).length,
    'inline new ApiError(': sum(
      sources.filter(isOutsideCatalogue).map(({ text }) => text.split('new ApiError(').length - 1),
    ),
  }
}

/** The tables of which one place should write. */
const WRITTEN = ['deployments', 'findings', 'ci_runs']

function measureWriters(sources: readonly Source[]): House {
  return Object.fromEntries(
    WRITTEN.map((table) => {
      const write = new RegExp(`\\b(?:insert into|update|delete from|copy)\\s+${table}\\b`)
      return [`files that write ${table}`, sources.filter(({ text }) => write.test(text)).length]
    }),
  )
}

export function listFunctions({ path, lines }: Source): Definition[] {
  return lines.flatMap((line, at) => {
    const [, exported, name] = FUNCTION.exec(line) ?? []
    if (name === undefined) return []
    const end = lines.findIndex((later, index) => index >= at && /^\}/.test(later))
    const length = line.endsWith('}') ? 1 : end - at + 1
    return [{ name, path, isExported: exported !== undefined, lines: length }]
  })
}

/** The different verbs with which functions begin: `find` of `findRun`. */
export function firstWords(functions: readonly Pick<Definition, 'name'>[]): string[] {
  return [...new Set(functions.flatMap(({ name }) => /^[a-z]+/.exec(name)?.[0] ?? []))].sort()
}

function countUsedOnce(sources: readonly Source[], functions: readonly Definition[]): number {
  const texts = new Map(sources.map(({ path, text }) => [path, text]))
  return functions.filter(({ name, path, isExported, lines }) => {
    if (isExported || lines > SMALL_FUNCTION_LINES) return false
    return ((texts.get(path) ?? '').match(new RegExp(`\\b${name}\\b`, 'g')) ?? []).length === 2
  }).length
}

/** Declared errors are made in platform/http. */
function isOutsideCatalogue({ path }: Source): boolean {
  return !path.startsWith('platform/http/')
}

function folderOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

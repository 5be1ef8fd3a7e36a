import { statSync } from 'node:fs'
import { resolve, sep } from 'node:path'
import { glob } from 'tinyglobby'
import { type FileInput, InputError } from './inputs.ts'

/**
 * The files that the lines of an input name: paths, directories and globs, and with `!` in front the
 * files to leave out. Absolute and sorted. Throws an `InputError` if a line matches no file.
 */
export async function findFiles(input: FileInput, lines: string[]): Promise<string[]> {
  const ignore = lines.filter((line) => line.startsWith('!')).map((line) => toGlob(line.slice(1)))
  const found = new Set<string>()
  for (const line of lines.filter((line) => !line.startsWith('!'))) {
    const files = isFile(line) ? [line] : await glob(toGlob(line), { ignore, dot: true })
    if (files.length === 0) throw new InputError(input, `no file matches "${line}".`)
    for (const file of files) found.add(resolve(file))
  }
  return [...found].sort()
}

/** The name of an existing file may contain characters of a glob, such as `[id].xml`. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

/** Globs have slashes on every platform. */
function toGlob(line: string): string {
  return sep === '/' ? line : line.replaceAll(sep, '/')
}

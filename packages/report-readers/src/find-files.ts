import { statSync } from 'node:fs'
import { basename, isAbsolute, relative, resolve, sep } from 'node:path'
import { glob } from 'tinyglobby'

/** A path or a glob that matches no file. `option` is where it was given. */
export class MissingFileError extends Error {
  readonly option: string
  readonly pattern: string

  constructor(option: string, pattern: string) {
    super(`No file matches ${option} "${pattern}"`)
    this.name = 'MissingFileError'
    this.option = option
    this.pattern = pattern
  }
}

/** Paths and globs of one option, such as `--junit`. */
type Named = {
  option: string
  patterns: readonly string[]
  /** The glob of the files that count if a directory is named. */
  inDirectory?: string
}

/** Where files are looked for, and whether none may be found. */
export type Search = { cwd: string; allowMissing: boolean }

/**
 * The files that paths, directories and globs name, without repetitions and sorted by path, as
 * absolute paths. Throws a `MissingFileError` if one of them matches no file, unless that is allowed.
 */
export async function findFiles(
  { option, patterns, inDirectory = '**' }: Named,
  { cwd, allowMissing }: Search,
): Promise<string[]> {
  const found = new Set<string>()
  for (const pattern of patterns) {
    const files = await matching(pattern, { cwd, inDirectory })
    if (files.length === 0 && !allowMissing) throw new MissingFileError(option, pattern)
    for (const file of files) found.add(file)
  }
  return [...found].sort()
}

/** The name of an existing file may contain characters of a glob, such as `[id].xml`. */
async function matching(
  pattern: string,
  { cwd, inDirectory }: { cwd: string; inDirectory: string },
): Promise<string[]> {
  const path = resolve(cwd, pattern)
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isFile()) return [path]
  const files = found?.isDirectory()
    ? await glob(inDirectory, { cwd: path, absolute: true })
    : await glob(pattern.replaceAll(sep, '/'), { cwd, absolute: true }) // Globs have slashes everywhere.
  return files.map((file) => resolve(file))
}

/** The path of a file within the working directory, with `/`; null if it is elsewhere. */
function pathWithin(cwd: string, file: string): string | null {
  const path = relative(cwd, file)
  const isOutside = isAbsolute(path) || path.split(sep)[0] === '..'
  return isOutside ? null : path.replaceAll(sep, '/')
}

/** The path of a file in the report. A file from elsewhere has its name only. */
export function artifactPath(cwd: string, file: string): string {
  return pathWithin(cwd, file) ?? basename(file)
}

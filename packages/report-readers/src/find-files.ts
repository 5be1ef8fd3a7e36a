import { lstat, type realpath, type stat, statSync } from 'node:fs'
import { resolve, sep } from 'node:path'
import { convertPathToPattern, type FileSystemAdapter, glob, isDynamicPattern } from 'tinyglobby'
import { FoundFile, realPath } from './found-file.ts'
import { OutsideError, type Place, WorkingDirectory } from './working-directory.ts'

/**
 * A path or a glob that matches no file. `option` is where it was given. `hasLinks` tells that there
 * are directories behind links, which were not searched.
 */
export class MissingFileError extends Error {
  readonly option: string
  readonly pattern: string
  readonly hasLinks: boolean

  constructor(option: string, pattern: string, hasLinks: boolean) {
    super(`No file matches ${option} "${pattern}"`)
    this.name = 'MissingFileError'
    this.option = option
    this.pattern = pattern
    this.hasLinks = hasLinks
  }
}

/** Paths and globs of one option, such as `--junit`. */
type Named = {
  option: string
  patterns: readonly string[]
  /** The glob of the files that count if a directory is named. */
  inDirectory?: string
  /** Globs of files to leave out. */
  ignore?: readonly string[]
  /** Whether globs match names that begin with a dot. */
  dot?: boolean
}

/** Where files are looked for, and whether none may be found. */
export type Search = Place & { allowMissing: boolean }

/** `leftOut` are the paths of files that globs match, and that links put outside. */
type Found = { files: FoundFile[]; leftOut: string[] }

/**
 * The files that paths, directories and globs name, without repetitions and sorted by path. Throws a
 * `MissingFileError` if one of them matches no file, unless that is allowed, and an `OutsideError`
 * for what leaves the working directory.
 */
export async function findFiles(named: Named, search: Search): Promise<Found> {
  const directory = new WorkingDirectory(search)
  const files = new Map<string, FoundFile>()
  const leftOut = new Set<string>()
  for (const pattern of named.patterns) {
    const matched = await match(directory, pattern, named)
    const [outside] = matched.outside
    if (matched.files.length === 0) {
      if (outside !== undefined) throw new OutsideError(named.option, pattern, outside.real)
      if (!search.allowMissing) throw new MissingFileError(named.option, pattern, matched.hasLinks)
    }
    for (const file of matched.files) files.set(file.path, file)
    for (const file of matched.outside) leftOut.add(directory.artifactPath(file))
  }
  return { files: [...files.values()].sort(byPath), leftOut: [...leftOut].sort() }
}

/** Says for people which files a glob matched and were not read; null if there are none. */
export function describeLeftOut(leftOut: readonly string[]): string | null {
  if (leftOut.length === 0) return null
  const more = leftOut.length > NAMED_MAX ? ` and ${leftOut.length - NAMED_MAX} more` : ''
  const named = leftOut.slice(0, NAMED_MAX).join(', ')
  // A name with a new line would be a line of its own in a log, where CI systems look for commands.
  return `Left out, because links leave the working directory: ${named.replace(/\p{Cc}/gu, '\ufffd')}${more}`
}

const NAMED_MAX = 10

function byPath(a: FoundFile, b: FoundFile): number {
  return a.path < b.path ? -1 : 1
}

type Matched = { files: FoundFile[]; outside: FoundFile[]; hasLinks: boolean }

/** The name of an existing file may contain characters of a glob, such as `[id].xml`. */
async function match(directory: WorkingDirectory, pattern: string, named: Named): Promise<Matched> {
  const file = directory.findFile(pattern, named.option)
  if (file !== null) return { files: [file], outside: [], hasLinks: false }
  const path = directory.findDirectory(pattern, named.option)
  if (path !== null) return matchGlob(directory, named.inDirectory ?? '**', path, named)
  const slashed = toGlob(pattern)
  if (!directory.followLinks && leaves(directory, slashed)) throw new OutsideError(named.option, pattern, null)
  return matchGlob(directory, slashed, directory.root, named)
}

/** Globs have slashes on every platform. */
function toGlob(pattern: string): string {
  return pattern.replaceAll(sep, '/')
}

/** The directories at the beginning of a glob, up to its first special character. */
const FIXED = /^(?:[^/*?[\]{}()!+@|\\]*\/)*/

/**
 * True for a glob that would walk directories elsewhere, even though their files are not read. What is
 * no glob is a missing file.
 */
function leaves(directory: WorkingDirectory, pattern: string): boolean {
  if (!isDynamicPattern(pattern)) return false
  const [fixed = ''] = FIXED.exec(pattern) ?? []
  const base = realPath(resolve(directory.root, fixed))
  const isElsewhere = base !== null && !directory.admits(base)
  return isElsewhere || pattern.slice(fixed.length).split('/').includes('..')
}

async function matchGlob(
  directory: WorkingDirectory,
  pattern: string,
  cwd: string,
  { ignore = [], dot = false }: Named,
): Promise<Matched> {
  const links: string[] = []
  const paths = await glob(pattern, {
    cwd,
    dot,
    absolute: true,
    ignore: ignore.map((ignored) => `${convertPathToPattern(directory.root)}/${toGlob(ignored)}`),
    ...(!directory.followLinks && { fs: withoutFollowing(links) }),
  })
  const found = paths.map((path) => FoundFile.at(resolve(path))).filter((file) => file !== null)
  const files = found.filter(({ real }) => directory.admits(real))
  const outside = found.filter(({ real }) => !directory.admits(real))
  return { files, outside, hasLinks: files.length === 0 && links.some(isDirectory) }
}

/**
 * Makes links look like files to the walk, so that globs match their names and nothing behind them is
 * walked. Notes their paths in `links`.
 */
function withoutFollowing(links: string[]): FileSystemAdapter {
  const note = (path: string, done: (error: null, path: string) => void) => {
    links.push(path)
    done(null, path)
  }
  return { realpath: note as typeof realpath, stat: lstat as unknown as typeof stat }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

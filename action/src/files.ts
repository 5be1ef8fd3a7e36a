import { statSync } from 'node:fs'
import { basename, extname, isAbsolute, relative, resolve, sep } from 'node:path'
import { fileSource } from '@shiplock/sdk/node'
import { glob } from 'tinyglobby'
import type { ReportFile } from './ingest.ts'
import { InputError } from './inputs.ts'

/**
 * The files that the lines of an input name: paths, directories and globs, and with `!` in front the
 * files to leave out. Sorted. Throws an `InputError` if a line matches no file.
 */
export async function findFiles(input: string, lines: string[]): Promise<string[]> {
  const excluded = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  const included = lines.filter((line) => !line.startsWith('!'))
  const found = new Set<string>()
  for (const line of included) {
    const files = isFile(line) ? [line] : await glob(pattern(line), { ignore: excluded.map(pattern), dot: true })
    if (files.length === 0) throw new InputError(input, `no file matches "${line}".`)
    for (const file of files) found.add(file)
  }
  return [...found].sort()
}

/** A path with brackets is a file rather than a glob, if there is such a file. */
function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

/** Globs have slashes on every platform. */
function pattern(line: string): string {
  return sep === '/' ? line : line.replaceAll(sep, '/')
}

/** A file as the report names it: by its path from the workspace, or by its name if it is elsewhere. */
export function toReportFile(file: string): ReportFile {
  const path = relative(process.cwd(), resolve(file))
  const isInside = !isAbsolute(path) && path.split(sep)[0] !== '..'
  return {
    path: isInside ? path.replaceAll(sep, '/') : basename(file),
    contentType: CONTENT_TYPES[extname(file).toLowerCase()] ?? 'application/octet-stream',
    source: fileSource(file),
  }
}

const CONTENT_TYPES: Record<string, string> = {
  '.json': 'application/json',
  '.sarif': 'application/json',
  '.xml': 'application/xml',
  '.html': 'text/html',
  '.md': 'text/markdown',
  '.txt': 'text/plain',
  '.log': 'text/plain',
  '.zip': 'application/zip',
  '.gz': 'application/gzip',
}

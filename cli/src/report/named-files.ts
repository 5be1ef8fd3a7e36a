import { UsageError } from '@shiplock/command-line/options'
import type { FoundFile } from '@shiplock/report-readers/found-file'
import { OutsideError, type Place, WorkingDirectory } from '@shiplock/report-readers/working-directory'

export const LINK_OPTIONS = {
  'follow-links': { type: 'flag', value: '', about: 'follow links and globs out of the working directory' },
} as const

/** The file that an argument names; null if there is none. Throws a `UsageError` if it lies elsewhere. */
export function findNamedFile(name: string, place: Place, option: string | null = null): FoundFile | null {
  try {
    return new WorkingDirectory(place).findFile(name, option)
  } catch (error) {
    throw refusedLink(error)
  }
}

/** Makes a link or glob that leaves the working directory a `UsageError`. Returns other errors as they are. */
export function refusedLink(error: unknown): unknown {
  if (!(error instanceof OutsideError)) return error
  const { option, target, message } = error
  const advice = `${target === null ? '' : 'name a file by its real path, or '}allow it with --follow-links`
  return new UsageError(`${option === null ? '' : `--${option} `}${message}; ${advice}`)
}

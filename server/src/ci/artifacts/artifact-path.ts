import { invalidRequest } from '../../platform/http/errors.ts'
import type { ArtifactItem } from './artifact.schema.ts'

const CHARS_MAX = 500

/** Throws 400 `invalid_request` that names each path that is not valid or that occurs twice. */
export function refuseBadPaths(items: ArtifactItem[]): void {
  const seen = new Set<string>()
  const errors = items.flatMap(({ path }, index) => {
    const mistake = artifactPathMistake(path) ?? (seen.has(path) ? 'occurs twice in this request' : null)
    seen.add(path)
    return mistake === null ? [] : [{ path: `/body/artifacts/${index}/path`, message: mistake }]
  })
  if (errors.length > 0) throw invalidRequest(errors)
}

/**
 * The error message for a path that is not relative, `/`-separated and 1 to 500 characters long;
 * otherwise null.
 */
export function artifactPathMistake(path: string): string | null {
  if (path === '' || [...path].length > CHARS_MAX) return `must have 1 to ${CHARS_MAX} characters`
  if (/\p{Cc}/u.test(path)) return 'must not contain control characters'
  if (path.includes('\\')) return 'must use / as the separator'
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'must be relative'
  if (path.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')) {
    return 'must not contain an empty segment, . or ..'
  }
  return null
}

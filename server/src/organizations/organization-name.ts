import { ApiError } from '../platform/http/errors.ts'

const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/
const NAME_CHARS_MAX = 200

/** The short name in commands and addresses. Throws 400. */
export function requireSlug(slug: string): string {
  if (SLUG.test(slug)) return slug
  throw invalid('A slug has 1 to 63 lower-case letters, digits and hyphens, and does not begin with a hyphen')
}

/** The name for people. Throws 400. */
export function requireName(name: string): string {
  const trimmed = name.trim()
  if (trimmed.length >= 1 && trimmed.length <= NAME_CHARS_MAX) return trimmed
  throw invalid(`A name has 1 to ${NAME_CHARS_MAX} characters`)
}

function invalid(message: string): ApiError {
  return new ApiError(400, 'invalid_request', message)
}

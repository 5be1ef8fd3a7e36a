const CHARS_MAX = 500

/** What is wrong with a path in the words of an error message, or null: relative, `/`-separated, 1 to 500 characters. */
export function artifactPathMistake(path: string): string | null {
  if (path === '' || [...path].length > CHARS_MAX) return `must have 1 to ${CHARS_MAX} characters`
  if (/\p{Cc}/u.test(path)) return 'must not hold control characters'
  if (path.includes('\\')) return 'must be separated by /'
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'must be relative'
  if (path.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')) {
    return 'must not hold an empty segment, . or ..'
  }
  return null
}

/** purl types whose package names are the same in upper and lower case. */
const WITHOUT_CASE: ReadonlySet<string> = new Set(['golang', 'nuget', 'composer', 'hex', 'pub', 'githubactions'])

/** Names under which documents and advisories know the standard library and the tools of Go. */
const GO_STANDARD_LIBRARY: ReadonlySet<string> = new Set(['std', 'go', 'stdlib'])

/**
 * The key that all ways to write one package's name share, for comparing components with advisories
 * and with what people search for. It does not contain
 * the type, and is never shown.
 *
 * @param type the purl type in lower case, for example `pypi`
 * @param name the full name as the ecosystem writes it, for example
 * `org.apache.logging.log4j:log4j-core`,
 * `@angular/core` or `github.com/x/y`
 */
export function formatPackageKey(type: string, name: string): string {
  // PEP 503: runs of `-`, `_` and `.` are one `-`.
  if (type === 'pypi') return name.toLowerCase().replace(/[-_.]+/g, '-')
  if (!WITHOUT_CASE.has(type)) return name
  const key = name.toLowerCase()
  return type === 'golang' && GO_STANDARD_LIBRARY.has(key) ? 'stdlib' : key
}

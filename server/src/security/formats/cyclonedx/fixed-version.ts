const TEXT_READ_MAX = 4000
const CLAUSES_MAX = 50

/** `to version 3.4.0`, `to 2.4.9 or later`, `to version 2.6.7, 2.8.11 or higher`. */
const VERSIONS =
  /\b(?:to|in|>=)\s(?:at least\s)?(version\s|versions\s)?v?(\d[\w.+:~-]{0,80}(?:(?:, ?(?:or )?| or )v?\d[\w.+:~-]{0,80}){0,9})/i
const ONLY_VERSION = /^v?(\d[\w.+:~-]{0,80})$/

/**
 * The versions that a recommendation says to upgrade to, where it plainly does; null otherwise. Trivy writes one clause for each
 * package that the vulnerability is in: the one that names the package counts.
 */
export function fixedVersionIn(recommendation: string | null, packageName: string | null): string | null {
  const text = recommendation?.slice(0, TEXT_READ_MAX).trim() ?? ''
  const only = ONLY_VERSION.exec(text)?.[1]
  if (only !== undefined) return trimmed(only)
  const clauses = text.split(/;\s|\n/, CLAUSES_MAX).filter((clause) => versionsIn(clause) !== null)
  const own = clauses.find((clause) => packageName !== null && names(clause, packageName))
  const clause = own ?? (clauses.length === 1 ? clauses[0] : undefined)
  return clause === undefined ? null : versionsIn(clause)
}

function versionsIn(clause: string): string | null {
  const [, word, versions = ''] = VERSIONS.exec(clause) ?? []
  // "Upgrade to 64-bit" is no version, "to version 7" is.
  const isVersion = versions.includes('.') || (word !== undefined && versions !== '')
  return isVersion ? trimmed(versions) : null
}

function names(clause: string, packageName: string): boolean {
  const [last = packageName] = packageName.split('/').slice(-1)
  return clause.split(/[\s:,]+/).some((word) => word === packageName || word === last)
}

/** Without the full stop of the sentence. */
function trimmed(versions: string): string {
  return versions.replace(/[.:~-]{1,5}$/, '')
}

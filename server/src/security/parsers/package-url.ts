export type PackageUrl = { name: string; version: string | null; withoutVersion: string }

/**
 * The parts of a package URL (purl-spec) that findings need; null when it is none.
 * The name has its namespace before it, as people write it: `@angular/core`, `org.apache/log4j`.
 */
export function parsePackageUrl(text: string): PackageUrl | null {
  const match = /^pkg:\/{0,2}([a-z0-9.+-]{1,50})\/([^?#]{1,1000})/i.exec(text.trim())
  if (match === null) return null
  const [, type = '', rest = ''] = match
  // A scoped npm name begins with @, so the version's @ is one after the last slash and not the first character.
  const at = rest.lastIndexOf('@')
  const hasVersion = at > 0 && at > rest.lastIndexOf('/') + 1
  const name = (hasVersion ? rest.slice(0, at) : rest).replace(/\/+$/, '')
  if (name === '') return null
  const version = hasVersion ? decoded(rest.slice(at + 1)) : null
  return { name: decoded(name), version, withoutVersion: `pkg:${type.toLowerCase()}/${name}` }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

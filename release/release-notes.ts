const HEADING = /^## \[?([^\]\s]+)\]?.*$/gm

/** The section of a version in the changelog without its heading; null if there is none or it is empty. */
export function releaseNotes(changelog: string, version: string): string | null {
  const headings = [...changelog.matchAll(HEADING)]
  const at = headings.findIndex(([, name]) => name === version)
  const heading = headings[at]
  if (heading === undefined) return null
  const text = changelog.slice(heading.index + heading[0].length, headings[at + 1]?.index).trim()
  return text === '' ? null : `${text}\n`
}

import { NAME_MAX, truncateText, VERSION_MAX } from '../../vocabulary/bounded-text.ts'
import { parsePackageUrl } from '../../vocabulary/package-url.ts'

/** What a report states about a vulnerable package. */
export type PackageFacts = {
  name: string | null
  version: string | null
  fixedVersion: string | null
  purl: string | null
}

export const NO_PACKAGE: PackageFacts = { name: null, version: null, fixedVersion: null, purl: null }

const TEXT_READ_MAX = 2000

/** Lines about the package in messages and rule help of Trivy, Wiz and Grype. */
const LINES: [keyof PackageFacts, RegExp][] = [
  ['name', /^(?:Package|Component): (.{1,300})$/im],
  ['version', /^(?:Installed version|Version): (.{1,100})$/im],
  ['fixedVersion', /^(?:Fixed Version|Fix Version): (.{1,100})$/im],
]

/** Sentences about the package in messages of OSV-Scanner, Grype and others. */
const SENTENCES = [
  /\bPackage '([^'\n]{1,300})@([^'@\n]{1,100})' is vulnerable\b/,
  / package: ([^\s,]{1,300}), version ([^\s,]{1,100}) was found\b/,
  /\bintroduces a vulnerable ([^\s]{1,300}) package\b/,
]

/** The package facts in a message or help text. */
export function parsePackageFacts(text: string | null): PackageFacts {
  if (text === null) return NO_PACKAGE
  const facts = { ...NO_PACKAGE }
  const read = text.slice(0, TEXT_READ_MAX)
  for (const [fact, pattern] of LINES) facts[fact] = pattern.exec(read)?.[1]?.trim() || null
  for (const sentence of SENTENCES) {
    const match = sentence.exec(read)
    facts.name ??= match?.[1] ?? null
    facts.version ??= match?.[2] ?? null
  }
  return bounded(facts)
}

/** The package facts in a package URL, or in `name@version` as Snyk writes it. */
export function parsePackageName(text: string | null): PackageFacts {
  if (text === null || text.length > NAME_MAX + VERSION_MAX) return NO_PACKAGE
  const purl = parsePackageUrl(text)
  if (purl !== null) return bounded({ ...NO_PACKAGE, name: purl.name, version: purl.version, purl: text.trim() })
  const match = /^(@?[^@\s]+)@([^@\s/]+)$/.exec(text.trim())
  return match === null ? NO_PACKAGE : bounded({ ...NO_PACKAGE, name: match[1] ?? null, version: match[2] ?? null })
}

/** Takes each fact from the first source that states it. */
export function mergeFacts(sources: readonly PackageFacts[]): PackageFacts {
  const first = (fact: keyof PackageFacts) => sources.find((facts) => facts[fact] !== null)?.[fact] ?? null
  return { name: first('name'), version: first('version'), fixedVersion: first('fixedVersion'), purl: first('purl') }
}

function bounded(facts: PackageFacts): PackageFacts {
  return {
    name: truncateText(facts.name, NAME_MAX),
    version: truncateText(facts.version, VERSION_MAX),
    fixedVersion: truncateText(facts.fixedVersion, VERSION_MAX),
    purl: truncateText(facts.purl, NAME_MAX + VERSION_MAX),
  }
}

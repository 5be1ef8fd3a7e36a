import { type JsonObject, objectOf, textOf } from '../../../platform/json/read-value.ts'
import { fingerprintOf } from '../fingerprint.ts'
import type { PackageFacts } from './package-facts.ts'
import { parsePackageUrl } from '../package-url.ts'

export type Identity = { fingerprint: string; fingerprint_method: string }

export type IdentifyingFacts = {
  ruleId: string | null
  path: string | null
  snippet: string | null
  message: string
  /** Null unless the finding is about a vulnerable package. */
  dependency: { package: PackageFacts; vulnerabilityId: string } | null
}

/** Values that tools write in place of a fingerprint: Semgrep without a login gives every result this one. */
const NOT_FINGERPRINTS = new Set(['requires login'])

/**
 * What makes this result the same finding in the next report, by decreasing trust. Lines and columns are never part of it.
 * A tool's fingerprint stands for its rule only, and a partial one (§3.27.17) for its file only: tools repeat them elsewhere.
 */
export function identityOf(result: JsonObject, facts: IdentifyingFacts): Identity {
  const { ruleId, path, dependency } = facts
  const full = entriesOf(result.fingerprints)
  if (full.length > 0) return identity('fingerprints', [ruleId, ...full])
  if (dependency !== null) return identity('dependency', dependencyParts(dependency, path))
  const partial = entriesOf(result.partialFingerprints)
  const lineHash = partial.findIndex((part) => /^primaryLocationLineHash(?:\/|$)/.test(part))
  if (lineHash >= 0) return identity('primaryLocationLineHash', [ruleId, path, partial[lineHash + 1] as string])
  if (partial.length > 0) return identity('partialFingerprints', [ruleId, path, ...partial])
  const snippet = facts.snippet?.replace(/\s+/g, '') ?? ''
  if (snippet !== '') return identity('snippet', [ruleId, path, snippet])
  return identity('message', [ruleId, path, facts.message])
}

function identity(method: string, parts: (string | null)[]): Identity {
  return { fingerprint: fingerprintOf(method, parts), fingerprint_method: method }
}

function dependencyParts(dependency: NonNullable<IdentifyingFacts['dependency']>, path: string | null) {
  const { purl, name } = dependency.package
  const subject = purl === null ? name : (parsePackageUrl(purl)?.withoutVersion ?? purl)
  return [subject, dependency.vulnerabilityId, path]
}

/** Names and values in turn, sorted by name. */
function entriesOf(fingerprints: unknown): string[] {
  const entries = Object.entries(objectOf(fingerprints) ?? {})
  return entries
    .filter(([, value]) => textOf(value) !== null && !NOT_FINGERPRINTS.has(value as string))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flat() as string[]
}

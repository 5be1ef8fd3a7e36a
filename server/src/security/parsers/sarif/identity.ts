import { type JsonObject, objectOf, textOf } from '../../../platform/json/read-value.ts'
import { fingerprintAt, fingerprintOf } from '../fingerprint.ts'
import { packageIdentity } from '../package-url.ts'
import type { PackageFacts } from './package-facts.ts'

export type Identity = { fingerprint: string; fingerprint_method: string; relocation: string | null }

export type IdentifyingFacts = {
  ruleId: string | null
  path: string | null
  /** The flagged text without its white space. */
  context: string | null
  message: string
  /** Null unless the finding is about a vulnerable package. */
  dependency: { package: PackageFacts; vulnerabilityId: string } | null
}

/** Values that tools write in place of a fingerprint: Semgrep without a login gives every result this one. */
const NOT_FINGERPRINTS = new Set(['requires login'])

const VERSION = /\/v(\d{1,6})$/

/**
 * What makes this result the same finding in the next report, by decreasing trust. Lines and columns are never part of it.
 * A tool's fingerprint stands for its rule only, and a partial one (§3.27.17) for its file only: tools repeat them elsewhere.
 */
export function identityOf(result: JsonObject, facts: IdentifyingFacts): Identity {
  const { ruleId, path, dependency } = facts
  const full = entriesOf(result.fingerprints)
  if (full.length > 0) {
    const fingerprint = fingerprintOf('fingerprints', [ruleId, ...full.flat()])
    return { fingerprint, fingerprint_method: 'fingerprints', relocation: null }
  }
  if (dependency !== null) return placed('dependency', path, dependencyParts(dependency))
  const partial = entriesOf(result.partialFingerprints)
  const lineHash = partial.find(([name]) => name === 'primaryLocationLineHash')
  if (lineHash !== undefined) return placed('primaryLocationLineHash', path, [ruleId, lineHash[1]])
  if (partial.length > 0) return placed('partialFingerprints', path, [ruleId, ...partial.flat()])
  if (facts.context !== null) return placed('snippet', path, [ruleId, facts.context])
  return {
    fingerprint: fingerprintOf('message', [ruleId, path, facts.message]),
    fingerprint_method: 'message',
    relocation: fingerprintOf('message anywhere', [ruleId, path, facts.message.replace(NUMBER, '#')]),
  }
}

/** Messages speak of lines, times and counts. Where these alone change, it is the same finding on other lines. */
const NUMBER = /\d+/g

/** What stands for its file only, and is recognized in another. */
function placed(method: string, path: string | null, parts: (string | null)[]): Identity {
  const anywhere = fingerprintOf(method, parts)
  return {
    fingerprint: fingerprintAt(anywhere, path),
    fingerprint_method: method,
    relocation: path === null ? null : anywhere,
  }
}

function dependencyParts(dependency: NonNullable<IdentifyingFacts['dependency']>) {
  return [packageIdentity(dependency.package), dependency.vulnerabilityId]
}

/**
 * Names and values, sorted by name. Of several versions of one fingerprint (`hash/v1`, `hash/v2`, §3.27.16) the lowest counts:
 * a tool that begins to write another one beside it makes no other finding.
 */
function entriesOf(fingerprints: unknown): [string, string][] {
  const object = objectOf(fingerprints)
  if (object === null) return []
  const lowest = new Map<string, { version: number; value: string }>()
  for (const [key, entry] of Object.entries(object)) {
    const value = textOf(entry)
    if (value === null || NOT_FINGERPRINTS.has(value)) continue
    const suffix = VERSION.exec(key)
    const name = suffix === null ? key : key.slice(0, suffix.index)
    const version = Number(suffix?.[1] ?? 0)
    if (version <= (lowest.get(name)?.version ?? version)) lowest.set(name, { version, value })
  }
  return [...lowest].map(([name, { value }]): [string, string] => [name, value]).sort(([a], [b]) => (a < b ? -1 : 1))
}

import { type JsonObject, objectOf, textOf } from '../../../platform/json/read-value.ts'
import { packageIdentity } from '../../vocabulary/package-url.ts'
import { fingerprintOf } from '../report/fingerprint.ts'
import { dependencyIdentity, type Identity, placedIdentity } from '../report/identity.ts'
import type { PackageFacts } from './package-facts.ts'

export type IdentifyingFacts = {
  ruleId: string | null
  path: string | null
  /** The flagged text without its white space. */
  context: string | null
  message: string
  line: number | null
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
  const { ruleId, path, context, dependency } = facts
  const full = versionsOf(result.fingerprints)
  if (full !== null) return fullIdentity(full, facts)
  if (dependency !== null)
    return dependencyIdentity(packageIdentity(dependency.package), dependency.vulnerabilityId, path)
  const partial = versionsOf(result.partialFingerprints)
  if (partial !== null) return partialIdentity(partial, facts)
  if (context !== null) return placedIdentity('snippet', path, [ruleId, context])
  return {
    fingerprint: fingerprintOf('message', [ruleId, path, facts.message]),
    fingerprint_method: 'message',
    relocation: fingerprintOf('message anywhere', [ruleId, path, facts.message.replace(NUMBER, '#')]),
  }
}

/** Messages speak of lines, times and counts. Where these alone change, it is the same finding on other lines. */
const NUMBER = /\d+/g

/** Of a tool's own full fingerprint, whatever the place. */
function fullIdentity({ newest, oldest }: Versions, facts: IdentifyingFacts): Identity {
  const method = 'fingerprints'
  const fingerprint = fingerprintOf(method, [facts.ruleId, ...newest.flat()])
  return { fingerprint, fingerprint_method: method, relocation: ownRelocation(method, oldest, facts) }
}

function partialIdentity({ newest, oldest }: Versions, facts: IdentifyingFacts): Identity {
  const { ruleId, path } = facts
  const method = 'partialFingerprints'
  const lineHash = newest.find(([name]) => name === LINE_HASH)
  if (lineHash !== undefined) return placedIdentity(LINE_HASH, path, [ruleId, lineHash[1]])
  const { fingerprint } = placedIdentity(method, path, [ruleId, ...newest.flat()])
  return { fingerprint, fingerprint_method: method, relocation: ownRelocation(method, oldest, facts) }
}

/**
 * Some tools put path or line into their fingerprints, so that another place makes another one: the flagged text then tells, else
 * the fingerprint without the line.
 */
function ownRelocation(method: string, entries: Entry[], { ruleId, context, line }: IdentifyingFacts): string {
  if (context !== null) return fingerprintOf(`${method} by text`, [ruleId, context])
  const parts = entries.flatMap(([name, value]) => [name, withoutLine(value, line)])
  return fingerprintOf(`${method} anywhere`, [ruleId, ...parts])
}

function withoutLine(value: string, line: number | null): string {
  if (line === null || !value.includes(`${line}`)) return value
  return value.replace(NUMBER, (number) => (number === `${line}` ? '#' : number))
}

const LINE_HASH = 'primaryLocationLineHash'

type Entry = [name: string, value: string]
/** The same list twice where nothing has several versions. */
type Versions = { newest: Entry[]; oldest: Entry[] }

/**
 * Names and values, sorted by name; null where there are none. Of several versions of one fingerprint (`hash/v1`, `hash/v2`,
 * §3.27.16) the newest identifies. By the oldest it is recognized when a tool begins to write another one beside it.
 */
function versionsOf(fingerprints: unknown): Versions | null {
  const object = objectOf(fingerprints)
  if (object === null) return null
  const entries = Object.entries(object).flatMap(([key, value]) => entryOf(key, textOf(value)))
  if (entries.length === 0) return null
  entries.sort((a, b) => (a.name === b.name ? b.version - a.version : a.name < b.name ? -1 : 1))
  const newest = entries.filter(({ name }, index) => entries[index - 1]?.name !== name)
  const oldest = entries.filter(({ name }, index) => entries[index + 1]?.name !== name)
  const kept = newest.map(nameAndValue)
  return { newest: kept, oldest: newest.length === entries.length ? kept : oldest.map(nameAndValue) }
}

function entryOf(key: string, value: string | null): VersionedEntry[] {
  if (value === null || NOT_FINGERPRINTS.has(value)) return []
  const suffix = VERSION.exec(key)
  const name = suffix === null ? key : key.slice(0, suffix.index)
  return [{ name, version: Number(suffix?.[1] ?? -1), value }]
}

type VersionedEntry = { name: string; version: number; value: string }

function nameAndValue({ name, value }: VersionedEntry): Entry {
  return [name, value]
}

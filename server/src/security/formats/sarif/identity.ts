import { type JsonObject, toObject, toText } from '../../../platform/json/read-value.ts'
import { getPackageIdentity } from '../../vocabulary/package-url.ts'
import {
  computeDependencyIdentity,
  computeFileIdentity,
  hashFingerprint,
  type Identity,
} from '../report/parsed-report.ts'
import type { PackageFacts } from './package-facts.ts'

export type IdentifyingFacts = {
  ruleId: string | null
  path: string | null
  /** The flagged code without white space. */
  context: string | null
  message: string
  line: number | null
  /** Null if the finding is not about a vulnerable package. */
  dependency: { package: PackageFacts; vulnerabilityId: string } | null
}

/** Values that are not fingerprints. Semgrep without a login writes this one for every result. */
const NOT_FINGERPRINTS = new Set(['requires login'])

/** Semgrep ends a hash with the number of the equal result in its file. */
const INDEX = /^([0-9a-f]{32,128})_\d{1,6}$/

const VERSION = /\/v(\d{1,6})$/

/**
 * The identity of a result by the most trusted of its facts, never by lines and columns. Tools
 * repeat fingerprints for other rules, so the rule is part of the identity. They repeat partial
 * fingerprints (§3.27.17) in other files, so for these the path is part of it, too.
 */
export function computeIdentity(result: JsonObject, facts: IdentifyingFacts): Identity {
  const { ruleId, path, context, dependency } = facts
  const full = readVersions(result.fingerprints)
  if (full !== null) return fullIdentity(full, facts)
  if (dependency !== null)
    return computeDependencyIdentity(getPackageIdentity(dependency.package), dependency.vulnerabilityId, path)
  const partial = readVersions(result.partialFingerprints)
  if (partial !== null) return partialIdentity(partial, facts)
  if (context !== null) return computeFileIdentity('snippet', path, [ruleId, context])
  return {
    fingerprint: hashFingerprint('message', [ruleId, path, facts.message]),
    fingerprint_method: 'message',
    relocation: hashFingerprint('message anywhere', [ruleId, placelessMessage(facts)]),
  }
}

/** Lines, times and counts in a message. If only these change, the finding has moved. */
const NUMBER = /\d+/g

/** The message without the path of the file and without numbers. */
function placelessMessage({ message, path }: IdentifyingFacts): string {
  return (path === null ? message : message.replaceAll(path, '#')).replace(NUMBER, '#')
}

function fullIdentity({ newest, oldest }: Versions, facts: IdentifyingFacts): Identity {
  const method = 'fingerprints'
  const fingerprint = hashFingerprint(method, [facts.ruleId, ...newest.flat()])
  return { fingerprint, fingerprint_method: method, relocation: ownRelocation(method, oldest, facts) }
}

function partialIdentity({ newest, oldest }: Versions, facts: IdentifyingFacts): Identity {
  const { ruleId, path } = facts
  const method = 'partialFingerprints'
  const lineHash = newest.find(([name]) => name === LINE_HASH)
  if (lineHash !== undefined) return computeFileIdentity(LINE_HASH, path, [ruleId, lineHash[1].replace(RANK, ':1')])
  const { fingerprint } = computeFileIdentity(method, path, [ruleId, ...newest.flat()])
  return { fingerprint, fingerprint_method: method, relocation: ownRelocation(method, oldest, facts) }
}

/**
 * Some tools put the path or line into their fingerprints. After a move, the finding is recognized
 * by the flagged code, else by the fingerprint without the line.
 */
function ownRelocation(method: string, entries: Entry[], { ruleId, context, line }: IdentifyingFacts): string {
  if (context !== null) return hashFingerprint(`${method} by text`, [ruleId, context])
  const parts = entries.flatMap(([name, value]) => [name, withoutLine(value, line)])
  return hashFingerprint(`${method} anywhere`, [ruleId, ...parts])
}

function withoutLine(value: string, line: number | null): string {
  if (line === null || !value.includes(`${line}`)) return value
  return value.replace(NUMBER, (number) => (number === `${line}` ? '#' : number))
}

const LINE_HASH = 'primaryLocationLineHash'

/** The number of an equal line in its file. It changes when an earlier one is removed. */
const RANK = /:\d+$/

type Entry = [name: string, value: string]
/** Both are the same list if no fingerprint has several versions. */
type Versions = { newest: Entry[]; oldest: Entry[] }

/**
 * The fingerprints sorted by name; null if there are none. Of several versions (`hash/v1`,
 * `hash/v2`, §3.27.16) the newest identifies the finding. The oldest recognizes it after a tool
 * adds a version.
 */
function readVersions(fingerprints: unknown): Versions | null {
  const object = toObject(fingerprints)
  if (object === null) return null
  const entries = Object.entries(object).flatMap(([key, value]) => readEntries(key, toText(value)))
  if (entries.length === 0) return null
  entries.sort((a, b) => (a.name === b.name ? b.version - a.version : a.name < b.name ? -1 : 1))
  const newest = entries.filter(({ name }, index) => entries[index - 1]?.name !== name)
  const oldest = entries.filter(({ name }, index) => entries[index + 1]?.name !== name)
  const kept = newest.map(nameAndValue)
  return { newest: kept, oldest: newest.length === entries.length ? kept : oldest.map(nameAndValue) }
}

function readEntries(key: string, value: string | null): VersionedEntry[] {
  if (value === null || NOT_FINGERPRINTS.has(value)) return []
  const suffix = VERSION.exec(key)
  const name = suffix === null ? key : key.slice(0, suffix.index)
  return [{ name, version: Number(suffix?.[1] ?? -1), value: value.replace(INDEX, '$1_0') }]
}

type VersionedEntry = { name: string; version: number; value: string }

function nameAndValue({ name, value }: VersionedEntry): Entry {
  return [name, value]
}

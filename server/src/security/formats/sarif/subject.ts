import { type JsonObject, toObject, toText } from '../../../platform/json/read-value.ts'
import { collectTexts } from '../../vocabulary/bounded-text.ts'
import type { FindingKind } from '../../vocabulary/finding.ts'
import { getPackageIdentity } from '../../vocabulary/package-url.ts'
import { computeSketch } from '../../vocabulary/text-sketch.ts'
import { collectMentionedIds, collectStatedIds, collectVulnerabilityIds } from '../../vocabulary/vulnerability-id.ts'
import {
  computeDependencyIdentity,
  computeFileIdentity,
  type EarlierIdentity,
  hashFingerprint,
  type Identity,
} from '../report/parsed-report.ts'
import type { ResultLocation } from './location.ts'
import {
  findVersionInText,
  isManifest,
  mergeFacts,
  NO_PACKAGE,
  type PackageFacts,
  parsePackageFacts,
  parsePackageName,
  readFlowPackage,
  readPackageProperties,
} from './package-facts.ts'
import { isCutKey, normalizeSnippet } from './result-text.ts'
import { collectValues } from './rule.ts'
import type { SarifRule, SarifRun } from './sarif-run.ts'
import { classifyMarks, classifyOfSeveral, classifyRule } from './scanner-kind.ts'

type ResultFacts = {
  run: SarifRun
  result: JsonObject
  rule: SarifRule | undefined
  ruleId: string | null
  message: string
  location: ResultLocation | undefined
}

/** What a finding is about. */
type Subject = {
  kind: FindingKind
  vulnIds: string[]
  about: PackageFacts
  /** The flagged code without white space; null if different code may look the same. */
  context: string | null
  /** The sketch of the flagged code; null for a secret. */
  similarity: string | null
  identity: Identity
  earlier: EarlierIdentity[]
}

export function readSubject({ run, result, rule, ruleId, message, location }: ResultFacts): Subject {
  const { kind, vulnIds, about } = readVulnerability({ run, result, rule, ruleId, message, location })
  const isDependency = kind === 'dependency'
  const vulnerabilityId = vulnIds[0] ?? ruleId
  const context = normalizeSnippet(location?.snippet ?? null, kind === 'secret')
  const isIdentified = isDependency && vulnerabilityId !== null && (about.purl ?? about.name) !== null
  const facts: IdentifyingFacts = {
    ruleId,
    path: location?.path ?? location?.address ?? location?.logicalName ?? location?.target ?? null,
    context,
    message,
    line: location?.startLine ?? null,
    dependency: isIdentified ? { package: about, vulnerabilityId } : null,
    isSecret: kind === 'secret',
    shared: run.sharedFingerprints,
  }
  return {
    kind,
    vulnIds,
    about,
    context: context !== null && isCutKey(context) ? null : context,
    similarity: computeSimilarity(kind, context, location),
    identity: computeIdentity(result, facts),
    earlier: listEarlierIdentities(result, rule, facts),
  }
}

/** Kinds whose findings may turn out to be about a vulnerable package. */
const MAY_BE_ABOUT_PACKAGE: readonly FindingKind[] = ['code', 'other', 'container', 'dependency']
/** An address that is a package, and no image. */
const PACKAGE_ADDRESS = /^pkg:(?!oci\/|docker\/)/i

/**
 * The kind of a finding, its vulnerabilities and package. A vulnerability that a text only mentions
 * is one of the finding if the result names a package or is in a manifest. Then it is about a
 * dependency, whatever the tool.
 */
function readVulnerability(facts: ResultFacts): Pick<Subject, 'kind' | 'vulnIds' | 'about'> {
  const { run, result, rule, ruleId, message, location } = facts
  const ofRule = classifyResult(run, rule, ruleId)
  const kind = ofRule === 'code' && PACKAGE_ADDRESS.test(location?.address ?? '') ? 'dependency' : ofRule
  if (kind === 'license') return { kind, vulnIds: [], about: readPackage(result, rule, message, location) }
  const stated = kind === 'secret' ? [] : listVulnerabilities(result, rule, ruleId)
  if (!MAY_BE_ABOUT_PACKAGE.includes(kind)) return { kind, vulnIds: stated, about: NO_PACKAGE }
  const own = stated.length > 0 ? stated : collectMentionedIds([message])
  const ids = own.length > 0 ? own : (rule?.mentionedIds ?? [])
  if (ids.length === 0 && kind !== 'dependency') return { kind, vulnIds: [], about: NO_PACKAGE }
  const about = readPackage(result, rule, message, location)
  const isAboutPackage = about.name !== null || isManifest(location?.path ?? null)
  if (isAboutPackage && ids.length > 0) return { kind: 'dependency', vulnIds: ids, about }
  return { kind, vulnIds: stated, about: kind === 'dependency' ? about : NO_PACKAGE }
}

/** The identities of a result under the ids that its rule had before. */
function listEarlierIdentities(
  result: JsonObject,
  rule: SarifRule | undefined,
  { dependency, ...facts }: IdentifyingFacts,
): EarlierIdentity[] {
  const isOwn = facts.ruleId !== null && rule?.id === facts.ruleId
  return (isOwn ? rule.deprecatedIds : []).map((rule_id) => {
    const named =
      dependency?.vulnerabilityId === facts.ruleId ? { ...dependency, vulnerabilityId: rule_id } : dependency
    return {
      rule_id,
      fingerprint: computeIdentity(result, { ...facts, ruleId: rule_id, dependency: named ?? null }).fingerprint,
    }
  })
}

function computeSimilarity(
  kind: FindingKind,
  context: string | null,
  location: ResultLocation | undefined,
): string | null {
  if (kind === 'secret' || context === null || location === undefined) return null
  return computeSketch(location.snippet ?? '', location.surroundings)
}

/** The kind by the id and the marks of the rule, else by the name of the tool. */
export function classifyResult(run: SarifRun, rule: SarifRule | undefined, ruleId: string | null): FindingKind {
  return run.kinds.get(`${ruleId} ${rule?.id}`, () => {
    const own = classifyRule(ruleId ?? '') ?? classifyMarks([rule?.name ?? '', ...(rule?.tags ?? [])])
    if (own !== null) return own
    if (run.kind === 'secret' || !isVulnerabilityId(ruleId))
      return run.kind === 'dependency' ? classifyOfSeveral(ruleId ?? '') : run.kind
    return 'dependency'
  })
}

function isVulnerabilityId(ruleId: string | null): boolean {
  const [id] = collectVulnerabilityIds([ruleId ?? ''])
  return id !== undefined && (ruleId ?? '').toUpperCase().startsWith(id.toUpperCase())
}

/** Properties with vulnerability ids, also in long lists. */
const ID_PROPERTIES = ['cve', 'cves', 'vulnerabilityId', 'vulnerability_id', 'aliases', 'tags']

/** The vulnerability ids that a result and its rule state. The id of its rule is first. */
export function listVulnerabilities(result: JsonObject, rule: SarifRule | undefined, ruleId: string | null): string[] {
  const properties = toObject(result.properties)
  const stated = ID_PROPERTIES.flatMap((name) => collectTexts(properties?.[name]))
  const values = [result.properties, result.fingerprints, result.partialFingerprints].flatMap(collectValues)
  return [
    ...new Set([
      // Those of a rule are read once.
      ...(ruleId === null || ruleId === rule?.id ? [] : collectVulnerabilityIds([ruleId])),
      ...(rule?.vulnIds ?? []),
      ...collectVulnerabilityIds(stated),
      ...(rule?.tagIds ?? []),
      ...collectStatedIds(values),
    ]),
  ]
}

const NAME_AND_VERSION = /^[\w./-]{1,200}@\d[\w.+-]{0,100}$/

/** The package of a dependency finding. Tools state it in different members. */
export function readPackage(
  result: JsonObject,
  rule: SarifRule | undefined,
  message: string,
  location: Pick<ResultLocation, 'packageNames' | 'snippet'> | undefined,
): PackageFacts {
  const own = mergeFacts([
    readPackageProperties(toObject(result.properties)),
    readFlowPackage(result),
    parsePackageFacts(message),
    ...(location?.packageNames ?? []).map(parsePackageName),
    // cargo-deny writes the package as a fingerprint, others hashes.
    ...collectValues(result.partialFingerprints)
      .filter((value) => NAME_AND_VERSION.test(value))
      .map(parsePackageName),
  ])
  const facts = rule === undefined ? own : mergeFacts([own, selectRulePackage(rule, own.name)])
  return { ...facts, version: facts.version ?? findVersionInText(location?.snippet ?? null, facts.name) }
}

/**
 * The package of the rule, unless the result names another one: packages may share a rule. Of
 * several package URLs one counts that the result names, or any if all are versions of a package.
 */
function selectRulePackage(rule: SarifRule, name: string | null): PackageFacts {
  const purls = rule.purls.map(parsePackageName)
  const isOne = new Set(purls.map((facts) => facts.name)).size === 1
  const named = isOne ? purls[0] : purls.find((facts) => isSamePackage(facts.name, name))
  const facts = mergeFacts([rule.package, named ?? NO_PACKAGE])
  if (name === null || isSamePackage(facts.name, name)) return facts
  return named !== undefined && isSamePackage(named.name, name) ? named : NO_PACKAGE
}

/** `group:artifact` of Maven is `group/artifact` in package URLs. */
function isSamePackage(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return false
  return one.replaceAll(':', '/').toLowerCase() === other.replaceAll(':', '/').toLowerCase()
}

export type IdentifyingFacts = {
  ruleId: string | null
  path: string | null
  /** The flagged code without white space. */
  context: string | null
  message: string
  line: number | null
  /** Null if the finding is not about a vulnerable package. */
  dependency: { package: PackageFacts; vulnerabilityId: string } | null
  isSecret: boolean
  /** Fingerprints that do not tell the results of the run apart: their names, or single values. */
  shared: ReadonlySet<string>
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
  const { ruleId, path, context, dependency, isSecret } = facts
  // Beside a secret that is not shown, the commit is all that tells it from another one.
  const unread = isSecret ? NO_NAMES : facts.shared
  const full = readVersions(result.fingerprints, unread)
  if (full !== null) return fullIdentity(full, facts)
  if (dependency !== null)
    return computeDependencyIdentity(getPackageIdentity(dependency.package), dependency.vulnerabilityId, path)
  const partial = readVersions(result.partialFingerprints, unread)
  if (partial !== null) return partialIdentity(partial, facts)
  if (context !== null) return computeFileIdentity('snippet', path, [ruleId, context])
  const { message } = facts
  const placeless = (path === null ? message : message.replaceAll(path, '#')).replace(NUMBER, '#')
  return {
    fingerprint: hashFingerprint('message', [ruleId, path, message]),
    fingerprint_method: 'message',
    relocation: hashFingerprint('message anywhere', [ruleId, placeless]),
  }
}

/** Lines, times and counts in a message. If only these change, the finding has moved. */
const NUMBER = /\d+/g

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
function ownRelocation(method: string, entries: Entry[], facts: IdentifyingFacts): string {
  const { ruleId, path, context, line, isSecret, shared } = facts
  if (context !== null) return hashFingerprint(`${method} by text`, [ruleId, context])
  // In a shallow clone every secret has the newest commit. Nothing but its place is known.
  if (isSecret && shared.has(COMMIT)) return hashFingerprint('hidden secret', [ruleId, path])
  const parts = entries.flatMap(([name, value]) => [name, withoutLine(value, line)])
  return hashFingerprint(`${method} anywhere`, [ruleId, ...parts])
}

function withoutLine(value: string, line: number | null): string {
  if (line === null || !value.includes(`${line}`)) return value
  return value.replace(NUMBER, (number) => (number === `${line}` ? '#' : number))
}

const NO_NAMES: ReadonlySet<string> = new Set()
/** The fingerprint by which Gitleaks names a commit, beside others such as its author. */
export const COMMIT = 'commitSha'

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
function readVersions(fingerprints: unknown, unread: ReadonlySet<string>): Versions | null {
  const object = toObject(fingerprints)
  if (object === null) return null
  const entries = Object.entries(object).flatMap(([key, value]) =>
    unread.has(key) || unread.has(formatFingerprint(key, normalizeValue(toText(value) ?? '')))
      ? []
      : readEntries(key, toText(value)),
  )
  if (entries.length === 0) return null
  entries.sort((a, b) => (a.name === b.name ? b.version - a.version : a.name < b.name ? -1 : 1))
  const newest = entries.filter(({ name }, index) => entries[index - 1]?.name !== name)
  const oldest = entries.filter(({ name }, index) => entries[index + 1]?.name !== name)
  const kept = newest.map(nameAndValue)
  return { newest: kept, oldest: newest.length === entries.length ? kept : oldest.map(nameAndValue) }
}

/** One value of a fingerprint. */
export function formatFingerprint(name: string, value: string): string {
  return `${name}\n${value}`
}

/** A value without the number of the equal result. */
export function normalizeValue(value: string): string {
  return value.replace(INDEX, '$1_0')
}

function readEntries(key: string, value: string | null): VersionedEntry[] {
  if (value === null || NOT_FINGERPRINTS.has(value)) return []
  const suffix = VERSION.exec(key)
  const name = suffix === null ? key : key.slice(0, suffix.index)
  return [{ name, version: Number(suffix?.[1] ?? -1), value: normalizeValue(value) }]
}

type VersionedEntry = { name: string; version: number; value: string }

function nameAndValue({ name, value }: VersionedEntry): Entry {
  return [name, value]
}

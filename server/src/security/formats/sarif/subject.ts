import { type JsonObject, toObject, toTexts } from '../../../platform/json/read-value.ts'
import { collectTexts } from '../../vocabulary/bounded-text.ts'
import type { FindingKind } from '../../vocabulary/finding.ts'
import { computeSketch } from '../../vocabulary/text-sketch.ts'
import { collectVulnerabilityIds } from '../../vocabulary/vulnerability-id.ts'
import type { Identity } from '../report/parsed-report.ts'
import { computeIdentity } from './identity.ts'
import type { ResultLocation } from './location.ts'
import { mergeFacts, NO_PACKAGE, type PackageFacts, parsePackageFacts, parsePackageName } from './package-facts.ts'
import { isCutKey, normalizeSnippet } from './result-text.ts'
import type { SarifRule, SarifRun } from './sarif-run.ts'
import { classifyMarks, classifyRule } from './scanner-kind.ts'

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
}

export function readSubject({ run, result, rule, ruleId, message, location }: ResultFacts): Subject {
  const kind = classifyResult(run, rule, ruleId)
  const isDependency = kind === 'dependency'
  const vulnIds = isDependency ? listVulnerabilities(result, rule, ruleId) : []
  const about = isDependency ? readPackage(result, rule, message, location?.logicalName ?? null) : NO_PACKAGE
  const vulnerabilityId = vulnIds[0] ?? ruleId
  const context = normalizeSnippet(location?.snippet ?? null, kind === 'secret')
  const isIdentified = isDependency && vulnerabilityId !== null && (about.purl ?? about.name) !== null
  const identity = computeIdentity(result, {
    ruleId,
    path: location?.path ?? location?.address ?? location?.logicalName ?? null,
    context,
    message,
    line: location?.startLine ?? null,
    dependency: isIdentified ? { package: about, vulnerabilityId } : null,
  })
  return {
    kind,
    vulnIds,
    about,
    context: context !== null && isCutKey(context) ? null : context,
    similarity: computeSimilarity(kind, context, location),
    identity,
  }
}

function computeSimilarity(
  kind: FindingKind,
  context: string | null,
  location: ResultLocation | undefined,
): string | null {
  if (kind === 'secret' || context === null || location === undefined) return null
  return computeSketch(location.snippet ?? '', location.surroundings)
}

/** The kind by the marks of the rule, else by the name of the tool. */
export function classifyResult(run: SarifRun, rule: SarifRule | undefined, ruleId: string | null): FindingKind {
  if (run.kind === 'dependency') return classifyMarks([rule?.name ?? '', ...(rule?.tags ?? [])]) ?? 'dependency'
  if (run.kind !== 'code') return run.kind
  return run.kinds.get(ruleId ?? '', () =>
    isVulnerabilityId(ruleId) ? 'dependency' : (classifyRule(ruleId ?? '') ?? 'code'),
  )
}

function isVulnerabilityId(ruleId: string | null): boolean {
  const [id] = collectVulnerabilityIds([ruleId ?? ''])
  return id !== undefined && (ruleId ?? '').toUpperCase().startsWith(id.toUpperCase())
}

/** Properties with vulnerability ids. */
const ID_PROPERTIES = ['cve', 'cves', 'vulnerabilityId', 'vulnerability_id', 'aliases', 'tags']

/** The vulnerability ids of a dependency finding. The id of its rule is first. */
export function listVulnerabilities(result: JsonObject, rule: SarifRule | undefined, ruleId: string | null): string[] {
  const properties = toObject(result.properties)
  const stated = ID_PROPERTIES.flatMap((name) => collectTexts(properties?.[name]))
  return [
    ...new Set([
      ...collectVulnerabilityIds([ruleId ?? '']),
      ...(rule?.vulnIds ?? []),
      ...collectVulnerabilityIds([...stated, ...(rule?.tags ?? [])]),
    ]),
  ]
}

/** The package of a dependency finding. Tools state it in different members. */
export function readPackage(
  result: JsonObject,
  rule: SarifRule | undefined,
  message: string,
  logicalName: string | null,
): PackageFacts {
  const properties = toObject(result.properties)
  const purls = [...toTexts(properties?.purl), ...toTexts(properties?.purls)]
  const own = mergeFacts([
    parsePackageName(purls[0] ?? null),
    parsePackageFacts(message),
    parsePackageName(logicalName),
  ])
  return rule === undefined ? own : mergeFacts([own, selectRulePackage(rule, own.name)])
}

/** The package of the rule, unless the result names another one: packages may share a rule. */
function selectRulePackage(rule: SarifRule, name: string | null): PackageFacts {
  const purl = rule.purls.length === 1 ? parsePackageName(rule.purls[0] ?? null) : NO_PACKAGE
  const facts = mergeFacts([rule.package, purl])
  return name === null || name === facts.name ? facts : NO_PACKAGE
}

import {
  getMember,
  type JsonObject,
  toInteger,
  toObject,
  toObjects,
  toText,
} from '../../../platform/json/read-value.ts'
import {
  COMMENT_MAX,
  DESCRIPTION_MAX,
  parseWebUrl,
  RULE_ID_MAX,
  selectTitleLine,
  TITLE_MAX,
  truncateText,
} from '../../vocabulary/bounded-text.ts'
import type { FindingKind } from '../../vocabulary/finding.ts'
import { normalizeRuleId } from '../../vocabulary/rule-name.ts'
import { classifyScore, parseScore, type Severity } from '../../vocabulary/severity.ts'
import type { Dismissal } from '../report/dependency-finding.ts'
import type { ParsedFinding } from '../report/parsed-report.ts'
import { listLocations, type ResultLocation, readLocation } from './location.ts'
import type { PackageFacts } from './package-facts.ts'
import { findResourceName, formatDescription, formatMessage, OTHER_LOCATIONS_MAX } from './result-text.ts'
import { collectResultCwes, findRule, readRuleReference, readSeverityWord } from './rule.ts'
import type { SarifRule, SarifRun } from './sarif-run.ts'
import { readSubject } from './subject.ts'

/** The finding of a result (§3.27); null if the result has neither a message nor a rule. */
export function readFinding(run: SarifRun, result: JsonObject): ParsedFinding | null {
  const reference = readRuleReference(result)
  const rule = findRule(run, reference)
  const ruleId = reference.id ?? rule?.id ?? null
  const message = formatMessage(run, result.message, rule) ?? rule?.description ?? rule?.name ?? ruleId
  if (message === null) return null
  const locations = listLocations(result)
  const resolved = locations.slice(0, 1 + OTHER_LOCATIONS_MAX).map((location) => readLocation(run, location))
  const [location] = resolved
  const path = location?.path ?? null
  const score = readScannerScore(result, rule)
  const word = readSeverityWord(toObject(result.properties)) ?? rule?.severity ?? null
  const dismissal = readDismissal(result)
  const { kind, vulnIds, about, context, similarity, identity, earlier } = readSubject({
    run,
    result,
    rule,
    ruleId,
    message,
    location,
  })
  // Spreading parts into this object would take longer than making them. Reports have many results.
  return {
    tool: run.tool.name,
    tool_version: run.tool.version,
    kind,
    type: null,
    severity: (score === null ? word : null) ?? toSeverity(score, readLevel(run, result, rule)),
    state: dismissal === null ? 'open' : 'dismissed',
    dismiss_reason: dismissal?.reason ?? null,
    dismiss_comment: dismissal?.comment ?? null,
    title: selectTitle({ rule, ruleId, message, path, kind, vulnIds, about }) ?? run.tool.name,
    description: truncateText(formatDescription(message, resolved, locations.length), DESCRIPTION_MAX),
    native_url: parseWebUrl(toText(result.hostedViewerUri)) ?? rule?.helpUri ?? null,
    path,
    start_line: path === null ? null : (location?.startLine ?? null),
    end_line: path === null ? null : (location?.endLine ?? null),
    start_column: isInLines(location) ? location.startColumn : null,
    end_column: isInLines(location) ? location.endColumn : null,
    package_name: about.name,
    package_version: about.version,
    fixed_version: about.fixedVersion,
    purl: about.purl,
    vuln_ids: vulnIds,
    cwes: collectResultCwes(run, result, rule, ruleId),
    rule_id: ruleId,
    secret_type: kind === 'secret' ? truncateText(ruleId ?? rule?.name ?? null, RULE_ID_MAX) : null,
    resource_name: findResource(location, kind, message),
    scanner_score: score,
    cvss_version: rule?.cvssVersion ?? null,
    cvss_score: rule?.cvssScore ?? null,
    cvss_vector: rule?.cvssVector ?? null,
    fingerprint: identity.fingerprint,
    fingerprint_method: identity.fingerprint_method,
    relocation: identity.relocation,
    similarity,
    context,
    ...(earlier.length > 0 && { earlier }),
  }
}

/** Columns without a line of a file say nothing. */
function isInLines(location: ResultLocation | undefined): location is ResultLocation {
  return location !== undefined && location.path !== null && location.startLine !== null
}

/** A logical location is a cloud resource in infrastructure, and a function or the like in code. */
function findResource(location: ResultLocation | undefined, kind: FindingKind, message: string): string | null {
  if (location === undefined) return null
  if (location.path === null) return location.address ?? location.logicalName ?? location.target
  return kind === 'iac' || kind === 'container' ? findResourceName({ ...location, message }) : location.target
}

type TitleFacts = {
  rule: SarifRule | undefined
  ruleId: string | null
  message: string
  path: string | null
  kind: FindingKind
  vulnIds: readonly string[]
  about: PackageFacts
}

/**
 * The title of a finding: the description of its rule; the message if there is none. Of texts that
 * say nothing as a title, the next counts: "ID in package", or the name of the rule in words. It
 * contains no directory of the machine that scanned.
 */
export function selectTitle({ rule, ruleId, message, path, kind, vulnIds, about }: TitleFacts): string | null {
  const stated = rule?.description ?? null
  const description = stated === null || repeatsIds(stated, ruleId, vulnIds) ? null : stated
  const isAboutPackage = kind === 'dependency' && vulnIds.length > 0 && about.name !== null
  const summary = isAboutPackage ? `${vulnIds[0]} in ${about.name}` : null
  const name = rule?.name ?? null
  const isTitle = name !== null && name !== ruleId && (/\s/.test(name) || !IDENTIFIER.test(name))
  const instead = kind === 'dependency' ? summary : isTitle ? name : null
  const candidates = [description, description === null ? null : instead, message, summary, name]
  const title =
    candidates
      .values()
      .map(selectTitleLine)
      .find((line) => line !== null) ?? ruleId
  return title === null ? null : truncateText(withoutMachine(title, ruleId, path), TITLE_MAX)
}

/** A name for programs: `OsPackageVulnerability`, `hardcoded-password`. */
const IDENTIFIER = /[a-z][A-Z]|\w[_/.:-]\w/

/**
 * Semgrep describes a rule as `Semgrep Finding: <id>`, Wiz by the id of a vulnerability, and Ruff
 * with a placeholder: `{string}`.
 */
function repeatsIds(description: string, ruleId: string | null, vulnIds: readonly string[]): boolean {
  const isId = description === ruleId || vulnIds.includes(description)
  return isId || /^\w+ Finding: /.test(description) || /\{\w*\}/.test(description)
}

/** An absolute path of at least two names. */
const ABSOLUTE_PATH = /(?:file:\/\/)?(?:\b[A-Za-z]:)?(?:[\\/][^\s\\/'"`()<>,;:]+){2,}/g

function withoutMachine(text: string, ruleId: string | null, path: string | null): string {
  const named = ruleId === null ? text : text.replaceAll(ruleId, normalizeRuleId(ruleId))
  if (path === null || !/[\\/]/.test(named)) return named
  return named.replaceAll(ABSOLUTE_PATH, (found) => {
    const at = found.replaceAll('\\', '/').lastIndexOf(`/${path}`)
    const rest = found.slice(at + path.length + 1)
    return at >= 0 && /^\W*$/.test(rest) ? path + rest : found
  })
}

const NO_PROBLEM = new Set<unknown>(['pass', 'notApplicable', 'informational'])
const NO_FAILURE = new Set<unknown>([...NO_PROBLEM, 'open', 'review'])

/** False for a result without a problem (§3.27.9), and for one that is fixed (§3.27.24). */
export function isFinding(result: JsonObject): boolean {
  return !NO_PROBLEM.has(result.kind) && !isGone(result)
}

/** Whether the tool states that a result of an earlier report is fixed (§3.27.24). */
export function isGone({ baselineState }: JsonObject): boolean {
  return baselineState === 'absent'
}

/**
 * The dismissal of a suppressed result (§3.27.23): it has suppressions, and all are accepted. A
 * suppression without status is accepted (§3.35.3). Null for an open result.
 */
export function readDismissal(result: JsonObject): Dismissal | null {
  const suppressions = toObjects(result.suppressions)
  const first = suppressions[0]
  const areAccepted = suppressions.every(({ status }) => (status ?? 'accepted') === 'accepted')
  if (first === undefined || !areAccepted) return null
  const justification = suppressions
    .map((suppression) => toText(suppression.justification))
    .find((text) => text !== null)
  return {
    reason: first.kind === 'inSource' ? 'suppressed_in_source' : 'suppressed_externally',
    comment: truncateText(justification ?? null, COMMENT_MAX),
  }
}

const SEVERITY_OF_LEVEL = new Map<string, Severity>([
  ['error', 'high'],
  ['warning', 'medium'],
  ['note', 'low'],
  ['none', 'info'],
])

/** The severity by the scanner's score, else by the level of the result. */
export function toSeverity(score: number | null, level: string): Severity {
  return score === null ? (SEVERITY_OF_LEVEL.get(level) ?? 'medium') : classifyScore(score)
}

/** The scanner's score: `security-severity` of the result, else of its rule. */
export function readScannerScore(result: JsonObject, rule: SarifRule | undefined): number | null {
  return parseScore(getMember(result, 'properties', 'security-severity')) ?? rule?.securitySeverity ?? null
}

/**
 * The level of a result by §3.27.10: its own level; else `none` unless it failed; else the level
 * that the invocation or the rule configures; else `warning`.
 */
export function readLevel(run: SarifRun, result: JsonObject, rule: SarifRule | undefined): string {
  const own = knownLevel(toText(result.level))
  if (own !== null) return own
  // An unknown kind is one of a problem.
  if (NO_FAILURE.has(result.kind)) return 'none'
  return overriddenLevel(run, result, rule) ?? knownLevel(rule?.level ?? null) ?? 'warning'
}

function overriddenLevel(run: SarifRun, result: JsonObject, rule: SarifRule | undefined): string | null {
  const invocation = toInteger(getMember(result, 'provenance', 'invocationIndex'), 0)
  if (invocation === null || rule === undefined) return null
  return knownLevel(run.levelsByInvocation[invocation]?.get(rule) ?? null)
}

function knownLevel(level: string | null): string | null {
  return level !== null && SEVERITY_OF_LEVEL.has(level) ? level : null
}

import { memberOf, objectsOf, textOf } from '../../../platform/json/read-value.ts'
import type { ParsedFinding } from '../report/parsed-report.ts'
import { artifactLocation } from './location.ts'
import type { ArtifactLocation } from './sarif-run.ts'

/** True if a notification (§3.58) is an error, so that the analysis is incomplete. */
export function isError(notification: unknown): boolean {
  return memberOf(notification, 'level') === 'error'
}

/** Semgrep's message about a file that it could not parse: a warning without a location. */
const SEMGREP_PARSE_ERROR = /^(?:Syntax|Lexical) error at line (.+?):\d+:/

/**
 * The files that the tool could not scan, by one of its notifications. ESLint, Bandit and CodeQL
 * write an error with the location of each file.
 */
export function filesOfError(notification: unknown): ArtifactLocation[] {
  if (!isError(notification)) return fileOfSemgrep(notification)
  return objectsOf(memberOf(notification, 'locations'))
    .map((location) => artifactLocation(memberOf(location, 'physicalLocation', 'artifactLocation')))
    .filter(({ uri, index }) => uri !== null || index !== null)
}

function fileOfSemgrep(notification: unknown): ArtifactLocation[] {
  const [, path] = SEMGREP_PARSE_ERROR.exec(textOf(memberOf(notification, 'message', 'text')) ?? '') ?? []
  return path === undefined ? [] : [artifactLocation({ uri: path })]
}

/** Rules of Python linters for a file that is not Python, after which no other rule is run. */
const PARSE_ERROR_RULES = new Set(['invalid-syntax', 'syntax-error', 'E999', 'E0001'])

/** Ruff's message for syntax that is valid in a newer version of Python. All rules are run. */
const NEWER_SYNTAX = /^Cannot use .+ on Python \d/

/** True if a finding means that its file could not be parsed. Ruff reports this as a result. */
export function isParseError({ rule_id, description }: ParsedFinding): boolean {
  return rule_id !== null && PARSE_ERROR_RULES.has(rule_id) && !NEWER_SYNTAX.test(description ?? '')
}

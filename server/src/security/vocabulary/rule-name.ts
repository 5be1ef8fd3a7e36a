import { canonicalTool, KNOWN_TOOLS } from './tool-name.ts'

/** A rule as rule maps write it. */
export type RuleName = { tool: string; rule: string }

/**
 * The names that a rule of a report may have in rule maps, the most specific first. The message of
 * the result is needed if a tool writes the same rule for several checks. golangci-lint, for
 * example, writes the name of the linter.
 */
export function ruleNames(toolName: string, ruleId: string, message: string | null): RuleName[] {
  const tool = canonicalTool(toolName)
  const wrapped = wrappedRule(tool, ruleId.trim(), message)
  if (wrapped !== null) return ruleNames(wrapped.tool, wrapped.rule, message)
  const spell = Object.hasOwn(SPELLINGS, tool) ? SPELLINGS[tool] : undefined
  return (spell?.(ruleId.trim(), message) ?? [ruleId.trim()]).map((rule) => ({ tool, rule }))
}

/** The rule of another tool that a tool runs: gosec in golangci-lint, or Bandit in SonarQube. */
function wrappedRule(tool: string, ruleId: string, message: string | null): RuleName | null {
  if (tool === 'golangci-lint') return linterRule(ruleId) ?? linterRule(message ?? '')
  if (tool === 'semgrep') return namedRule(tool, /^([a-z_]+)\.([^.]+?)(?:-\d+)?$/.exec(ruleId))
  if (tool === 'sonarqube') return namedRule(tool, /^external_([a-z_-]+?)(?:_repo)?:(.+)$/.exec(ruleId))
  return null
}

/** The rule of gosec or Staticcheck with which a text starts, perhaps after the linter's name. */
function linterRule(text: string): RuleName | null {
  const rule = /^(?:[a-z]+[:/ ] ?)?(G\d{3}|SA\d{4})\b/.exec(text)?.[1]
  return rule === undefined ? null : { tool: rule.startsWith('G') ? 'gosec' : 'staticcheck', rule }
}

/**
 * The rule that a match names: the tool, and its rule. GitLab's rules for Semgrep are of this form,
 * with a number at their end: bandit.B602-1.
 */
function namedRule(wrapper: string, match: RegExpExecArray | null): RuleName | null {
  const [, name, rule] = match ?? []
  if (name === undefined || rule === undefined) return null
  const tool = canonicalTool(name.replaceAll('_', '-'))
  return tool !== wrapper && KNOWN_TOOLS.has(tool) ? { tool, rule } : null
}

const REQUIREMENT = /\b(?<subject>cpu|memory) (?<check>request|limit)\b/i
/** What messages of checks for several things state. */
const CHECKS = new Map([
  ['unset-cpu-requirements', REQUIREMENT],
  ['unset-memory-requirements', REQUIREMENT],
  ['container-resources', REQUIREMENT],
  ['container-security-context-user-group-id', /\blow (?<subject>user|group) (?<check>id)\b/i],
  ['pod-probes', /\b(?<subject>readiness|liveness)(?<check>probe)\b/i],
])

/** The spellings of a rule id of one tool. */
const SPELLINGS: Record<string, (ruleId: string, message: string | null) => string[]> = {
  bandit: (ruleId) => [/^B\d{3}/.exec(ruleId)?.[0] ?? ruleId],
  checkov: (ruleId) => [/CKV2?_[A-Z0-9]+_\d+/.exec(ruleId)?.[0] ?? ruleId],
  eslint: spellingsOfEslint,
  gosec: (ruleId) => [/G\d{3}/.exec(ruleId)?.[0] ?? ruleId],
  hadolint: (ruleId) => [/(?:DL|SC)\d{4}/.exec(ruleId)?.[0] ?? ruleId],
  'kube-linter': spellingsOfChecks,
  'kube-score': spellingsOfChecks,
  semgrep: spellingsOfSemgrep,
  'snyk-code': (ruleId) => [ruleId.replace(/\/test$/, '')],
  sonarqube: (ruleId) => [ruleId.replace(/^typescript:/, 'javascript:')],
  trivy: spellingsOfTrivy,
  zizmor: (ruleId) => [ruleId.replace(/^zizmor\//, '')],
}

/** GitLab leaves out the name of the plugin, and some formats write its package. */
function spellingsOfEslint(ruleId: string): string[] {
  const rule = ruleId.replace(/^(@[^/]+\/)?eslint-plugin-/, '$1')
  return rule.includes('/') ? [rule] : [rule, `security/${rule}`]
}

/**
 * KubeLinter and kube-score have one check for several things. The message states what is missing,
 * as in "container has cpu limit 0" or "Container is missing a readinessProbe".
 */
function spellingsOfChecks(ruleId: string, message: string | null): string[] {
  const stated = CHECKS.get(ruleId)?.exec(message ?? '')?.groups
  return stated === undefined ? [ruleId] : [`${ruleId}:${stated.subject}-${stated.check}`.toLowerCase()]
}

const SEMGREP_SEGMENTS_MAX = 40

/**
 * An id of Semgrep consists of the directories of the rule, from the directory where Semgrep ran,
 * the name of the file (only if the rules come from the registry), and the rule. Rule maps write
 * the directories within the registry and the rule.
 */
function spellingsOfSemgrep(ruleId: string): string[] {
  const segments = ruleId.split('.').slice(-SEMGREP_SEGMENTS_MAX)
  const rule = segments.pop() as string
  return segments
    .flatMap((_, start) => {
      const directories = segments.slice(start)
      return [directories, directories.slice(0, -1)].map((path) => [...path, rule].join('.'))
    })
    .concat(rule)
}

const TRIVY_ID = /^(?:AVD-)?([A-Z]+)-(\d{4,5})$/
/** Older versions of Trivy wrote KSV012 and DS002. AWS017 is an older id of another check. */
const TRIVY_SHORT_ID = /^(KSV|KCV|DS)-?(\d{1,4})$/

function spellingsOfTrivy(ruleId: string): string[] {
  const [, provider, number] = TRIVY_ID.exec(ruleId) ?? TRIVY_SHORT_ID.exec(ruleId) ?? []
  return provider === undefined || number === undefined ? [ruleId] : [`${provider}-${number.padStart(4, '0')}`]
}

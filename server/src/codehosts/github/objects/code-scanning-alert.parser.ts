import { type Static, Type } from 'typebox'
import { type HostAlert, NO_DETAILS } from '../../host-alert.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Id, Maybe, readAs, Text, textOrNull } from '../../kit/payload.ts'
import { AlertTimes, dismissalOf, placeOf, SourceRange, severityOf, timesOf } from './alert-fields.ts'

const Alert = Type.Object({
  ...AlertTimes,
  number: Id,
  html_url: Maybe(Text),
  state: Maybe(Text),
  rule: Type.Object({
    id: Maybe(Text),
    name: Maybe(Text),
    severity: Maybe(Text),
    security_severity_level: Maybe(Text),
    description: Maybe(Text),
    full_description: Maybe(Text),
    tags: Maybe(Type.Array(Text)),
    help_uri: Maybe(Text),
  }),
  tool: Type.Object({ name: Maybe(Text), version: Maybe(Text) }),
  most_recent_instance: Maybe(
    Type.Object({
      ref: Maybe(Text),
      commit_sha: Maybe(Text),
      message: Maybe(Type.Object({ text: Maybe(Text) })),
      location: Maybe(SourceRange),
    }),
  ),
})

/** Title and description correspond to those of the same result in a SARIF report. */
export function parseCodeScanningAlert(value: unknown, repository: HostRepository): HostAlert {
  const alert = readAs(Alert, value)
  const { rule, most_recent_instance: instance } = alert
  const ruleId = textOrNull(rule.id) ?? textOrNull(rule.name)
  const message = textOrNull(instance?.message?.text)
  return {
    ...NO_DETAILS,
    ...timesOf(alert),
    repository,
    type: 'code_scanning',
    number: alert.number,
    status: alert.state === 'dismissed' || alert.state === 'fixed' ? alert.state : 'open',
    severity: ruleSeverity(rule),
    title: textOrNull(rule.description) ?? textOrNull(rule.name) ?? message ?? ruleId ?? 'Code scanning alert',
    description: message ?? textOrNull(rule.full_description),
    url: textOrNull(alert.html_url),
    references: [textOrNull(rule.help_uri) ?? []].flat(),
    rule_id: ruleId,
    tool_name: textOrNull(alert.tool.name),
    tool_version: textOrNull(alert.tool.version),
    cwes: cwesOf(rule.tags ?? []),
    location: placeOf(instance?.location),
    commit_sha: textOrNull(instance?.commit_sha),
    git_ref: textOrNull(instance?.ref),
    dismissal: alert.state === 'dismissed' ? dismissalOf(alert) : null,
  }
}

const LEVELS: Readonly<Record<string, HostAlert['severity']>> = {
  error: 'high',
  warning: 'medium',
  note: 'low',
  none: 'info',
}

/** Rules without a security severity have the level of SARIF, whose default is `warning`. */
function ruleSeverity(rule: Static<typeof Alert>['rule']): HostAlert['severity'] {
  return severityOf(rule.security_severity_level) ?? LEVELS[rule.severity ?? ''] ?? 'medium'
}

const CWE_TAG = /(?:^|\/)cwe-0*([1-9]\d{0,5})$/i

/** CodeQL names weaknesses in tags of the form `external/cwe/cwe-079`. */
function cwesOf(tags: string[]): string[] {
  const numbers = tags.flatMap((tag) => CWE_TAG.exec(tag)?.[1] ?? [])
  return [...new Set(numbers.map((number) => `CWE-${number}`))]
}

import { type Static, Type } from 'typebox'
import { type HostAlert, NO_DETAILS } from '../../host-alert.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Id, Maybe, parseDate, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { Account, toHostAccount } from './repositories.ts'

/** What code scanning and Dependabot alerts say alike about their life. */
const AlertTimes = {
  created_at: Timestamp,
  updated_at: Maybe(Timestamp),
  fixed_at: Maybe(Timestamp),
  dismissed_by: Maybe(Account),
  dismissed_reason: Maybe(Text),
  dismissed_comment: Maybe(Text),
  dismissed_at: Maybe(Timestamp),
}

const AlertLife = Type.Object(AlertTimes)

type AlertLife = Static<typeof AlertLife>

export function parseTimes(alert: AlertLife): Pick<HostAlert, 'detected_at' | 'fixed_at' | 'updated_at'> {
  return {
    detected_at: new Date(alert.created_at),
    fixed_at: parseDate(alert.fixed_at),
    // An alert that never changed may have no time of its last change.
    updated_at: new Date(alert.updated_at ?? alert.dismissed_at ?? alert.fixed_at ?? alert.created_at),
  }
}

export function parseDismissal(alert: AlertLife): HostAlert['dismissal'] {
  return {
    by: toHostAccount(alert.dismissed_by),
    reason: parseText(alert.dismissed_reason),
    comment: parseText(alert.dismissed_comment),
    at: parseDate(alert.dismissed_at),
  }
}

const SEVERITIES: Readonly<Record<string, HostAlert['severity']>> = {
  critical: 'critical',
  high: 'high',
  medium: 'medium',
  moderate: 'medium',
  low: 'low',
}

/** Null for a severity that we do not know. */
export function parseSeverity(severity: string | null | undefined): HostAlert['severity'] | null {
  return SEVERITIES[severity ?? ''] ?? null
}

const SourceRange = Type.Object({
  path: Maybe(Text),
  start_line: Maybe(Id),
  end_line: Maybe(Id),
  start_column: Maybe(Id),
  end_column: Maybe(Id),
})

/** GitHub counts from 1; 0 stands for an unknown line or column. */
export function parseLocation(range: Static<typeof SourceRange> | null | undefined): HostAlert['location'] {
  const path = parseText(range?.path)
  if (!range || path === null) return null
  return {
    path,
    start_line: range.start_line || null,
    end_line: range.end_line || null,
    start_column: range.start_column || null,
    end_column: range.end_column || null,
  }
}

const CodeAlert = Type.Object({
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
  const alert = readAs(CodeAlert, value)
  const { rule, most_recent_instance: instance } = alert
  const ruleId = parseText(rule.id) ?? parseText(rule.name)
  const message = parseText(instance?.message?.text)
  const cwes = (rule.tags ?? []).flatMap((tag) => CWE_TAG.exec(tag)?.[1] ?? [])
  return {
    ...NO_DETAILS,
    ...parseTimes(alert),
    repository,
    type: 'code_scanning',
    number: alert.number,
    status: alert.state === 'dismissed' || alert.state === 'fixed' ? alert.state : 'open',
    // Rules without a security severity have the level of SARIF, whose default is `warning`.
    severity: parseSeverity(rule.security_severity_level) ?? LEVELS[rule.severity ?? ''] ?? 'medium',
    title: parseText(rule.description) ?? parseText(rule.name) ?? message ?? ruleId ?? 'Code scanning alert',
    description: message ?? parseText(rule.full_description),
    url: parseText(alert.html_url),
    references: [parseText(rule.help_uri) ?? []].flat(),
    rule_id: ruleId,
    tool_name: parseText(alert.tool.name),
    tool_version: parseText(alert.tool.version),
    cwes: [...new Set(cwes.map((number) => `CWE-${number}`))],
    location: parseLocation(instance?.location),
    commit_sha: parseText(instance?.commit_sha),
    git_ref: parseText(instance?.ref),
    dismissal: alert.state === 'dismissed' ? parseDismissal(alert) : null,
  }
}

const LEVELS: Readonly<Record<string, HostAlert['severity']>> = {
  error: 'high',
  warning: 'medium',
  note: 'low',
  none: 'info',
}

/** CodeQL names weaknesses in tags of the form `external/cwe/cwe-079`. */
const CWE_TAG = /(?:^|\/)cwe-0*([1-9]\d{0,5})$/i

const Score = Type.Object({ score: Maybe(Type.Number()), vector_string: Maybe(Text) })

const Advisory = Type.Object({
  ghsa_id: Maybe(Text),
  cve_id: Maybe(Text),
  summary: Maybe(Text),
  description: Maybe(Text),
  severity: Maybe(Text),
  cvss: Maybe(Score),
  cvss_severities: Maybe(Type.Object({ cvss_v3: Maybe(Score), cvss_v4: Maybe(Score) })),
  cwes: Maybe(Type.Array(Type.Object({ cwe_id: Text }))),
  references: Maybe(Type.Array(Type.Object({ url: Text }))),
})

const Package = Type.Object({ ecosystem: Text, name: Text })

const PackageAlert = Type.Object({
  ...AlertTimes,
  number: Id,
  html_url: Maybe(Text),
  state: Text,
  auto_dismissed_at: Maybe(Timestamp),
  dependency: Maybe(Type.Object({ package: Maybe(Package), manifest_path: Maybe(Text) })),
  security_advisory: Advisory,
  security_vulnerability: Maybe(
    Type.Object({
      package: Maybe(Package),
      severity: Maybe(Text),
      vulnerable_version_range: Maybe(Text),
      first_patched_version: Maybe(Type.Object({ identifier: Maybe(Text) })),
    }),
  ),
})

type PackageAlertObject = Static<typeof PackageAlert>

export function parseDependabotAlert(value: unknown, repository: HostRepository): HostAlert {
  const alert = readAs(PackageAlert, value)
  const { security_advisory: advisory, security_vulnerability: vulnerability } = alert
  const ghsaId = parseText(advisory.ghsa_id)
  const cveId = parseText(advisory.cve_id)
  const path = parseText(alert.dependency?.manifest_path)
  return {
    ...NO_DETAILS,
    ...parseTimes(alert),
    repository,
    type: 'dependabot',
    number: alert.number,
    ...packageStatus(alert),
    severity: parseSeverity(vulnerability?.severity) ?? parseSeverity(advisory.severity) ?? 'medium',
    title: parseText(advisory.summary) ?? cveId ?? ghsaId ?? 'Dependabot alert',
    description: parseText(advisory.description),
    url: parseText(alert.html_url),
    references: (advisory.references ?? []).map(({ url }) => url),
    rule_id: ghsaId,
    tool_name: 'Dependabot',
    cwes: (advisory.cwes ?? []).map(({ cwe_id }) => cwe_id),
    package: parsePackage(alert),
    cve_id: cveId,
    ghsa_id: ghsaId,
    advisory_url: ghsaId && `https://github.com/advisories/${ghsaId}`,
    cvss: parseCvss(advisory),
    location: path === null ? null : { path, start_line: null, end_line: null, start_column: null, end_column: null },
  }
}

/** GitHub dismisses some alerts by itself (`auto_dismissed`). */
function packageStatus(alert: PackageAlertObject): Pick<HostAlert, 'status' | 'dismissal'> {
  if (alert.state === 'auto_dismissed') {
    const at = parseDate(alert.auto_dismissed_at)
    return { status: 'dismissed', dismissal: { by: null, reason: 'auto_dismissed', comment: null, at } }
  }
  if (alert.state === 'dismissed') return { status: 'dismissed', dismissal: parseDismissal(alert) }
  return { status: alert.state === 'fixed' ? 'fixed' : 'open', dismissal: null }
}

function parsePackage({ dependency, security_vulnerability: vulnerability }: PackageAlertObject): HostAlert['package'] {
  const named = dependency?.package ?? vulnerability?.package
  if (!named) return null
  return {
    ...named,
    vulnerable_versions: parseText(vulnerability?.vulnerable_version_range),
    patched_version: parseText(vulnerability?.first_patched_version?.identifier),
    manifest_path: parseText(dependency?.manifest_path),
  }
}

/** The newest version of CVSS that the advisory was rated with. 0 and null stand for no rating. */
function parseCvss({ cvss, cvss_severities: versions }: Static<typeof Advisory>): HostAlert['cvss'] {
  const rated = [versions?.cvss_v4, versions?.cvss_v3, cvss].find((score) => score?.vector_string || score?.score)
  if (!rated) return null
  const vector = parseText(rated.vector_string)
  return { version: /^CVSS:(\d\.\d)\//.exec(vector ?? '')?.[1] ?? null, score: rated.score || null, vector }
}

const Place = Type.Object({ ...SourceRange.properties, commit_sha: Maybe(Text) })

const SecretAlert = Type.Object({
  number: Id,
  html_url: Maybe(Text),
  state: Maybe(Text),
  resolution: Maybe(Text),
  resolution_comment: Maybe(Text),
  resolved_at: Maybe(Timestamp),
  resolved_by: Maybe(Account),
  secret_type: Text,
  secret_type_display_name: Maybe(Text),
  secret: Maybe(Text),
  validity: Maybe(Text),
  first_location_detected: Maybe(Place),
  created_at: Timestamp,
  updated_at: Maybe(Timestamp),
})

type SecretAlertObject = Static<typeof SecretAlert>

/** `locations` are those of the alert, for servers that do not add the first one to the alert. */
export function parseSecretAlert(value: unknown, repository: HostRepository, locations: unknown[] | null): HostAlert {
  const alert = readAs(SecretAlert, value)
  const place = alert.first_location_detected ?? firstPlace(locations ?? [])
  const displayName = parseText(alert.secret_type_display_name)
  return {
    ...NO_DETAILS,
    repository,
    type: 'secret_scanning',
    number: alert.number,
    ...secretStatus(alert),
    severity: alert.validity === 'inactive' ? 'low' : 'critical',
    title: displayName ?? alert.secret_type,
    url: parseText(alert.html_url),
    rule_id: alert.secret_type,
    tool_name: 'GitHub secret scanning',
    location: parseLocation(place),
    commit_sha: parseText(place?.commit_sha),
    secret: {
      type: alert.secret_type,
      display_name: displayName,
      value: alert.secret || null,
      validity: parseText(alert.validity),
    },
    detected_at: new Date(alert.created_at),
    updated_at: new Date(alert.updated_at ?? alert.resolved_at ?? alert.created_at),
  }
}

/** A revoked secret does no more harm, so its alert is fixed. Any other resolution dismisses it. */
function secretStatus(alert: SecretAlertObject): Pick<HostAlert, 'status' | 'fixed_at' | 'dismissal'> {
  if (alert.state !== 'resolved') return { status: 'open', fixed_at: null, dismissal: null }
  const at = parseDate(alert.resolved_at)
  if (alert.resolution === 'revoked') return { status: 'fixed', fixed_at: at, dismissal: null }
  const dismissal = {
    by: toHostAccount(alert.resolved_by),
    reason: parseText(alert.resolution),
    comment: parseText(alert.resolution_comment),
    at,
  }
  return { status: 'dismissed', fixed_at: null, dismissal }
}

const Location = Type.Object({ type: Maybe(Text), details: Maybe(Place) })

/** Only locations of the type `commit` are places in files. Others are issues or comments. */
function firstPlace(locations: unknown[]): Static<typeof Place> | null {
  const read = locations.map((location) => readAs(Location, location))
  return read.find(({ type }) => type === 'commit')?.details ?? null
}

/** True if the server adds the place to the alert, even where there is none. */
export function hasLocation(alert: unknown): boolean {
  return typeof alert === 'object' && alert !== null && 'first_location_detected' in alert
}

import { type Static, Type } from 'typebox'
import type { HostAlert, HostAlertType } from '../../host-alert.ts'
import type { HostAccount, HostRepository } from '../../host-repository.ts'
import { Id, Maybe, parseDate, parseText, readAs, Text, Timestamp } from '../../kit/payload.ts'
import { parseSha } from './changes.ts'

const Vulnerability = Type.Object({
  id: Id,
  title: Maybe(Text),
  description: Maybe(Text),
  state: Text,
  severity: Maybe(Text),
  report_type: Text,
  created_at: Timestamp,
  updated_at: Maybe(Timestamp),
  resolved_at: Maybe(Timestamp),
  resolved_on_default_branch: Maybe(Type.Boolean()),
  dismissed_at: Maybe(Timestamp),
  dismissed_by_id: Maybe(Id),
  project: Maybe(Type.Object({ id: Id })),
  finding: Maybe(Type.Unknown()),
})
export type Vulnerability = Static<typeof Vulnerability>

export function parseVulnerability(value: unknown): Vulnerability {
  return readAs(Vulnerability, value)
}

/** What the REST API does not say of a dismissal. */
type DismissalFacts = { by: HostAccount | null; reason: string | null; comment: string | null }

/** Null for a kind of report that we do not know. */
export function toHostAlert(
  found: Vulnerability,
  repository: HostRepository,
  dismissal: DismissalFacts,
): HostAlert | null {
  const type = parseAlertType(found.report_type)
  if (type === null) return null
  const metadata = parseMetadata(found.finding)
  const { identifiers, scanner, file } = metadata
  const cve = identifiers.find(({ type: kind }) => kind === 'cve')
  const ghsa = identifiers.find(({ type: kind }) => kind === 'ghsa')
  return {
    repository,
    type,
    number: found.id,
    ...toAlertLife(found, dismissal),
    severity: parseSeverity(found.severity),
    title: parseText(found.title) ?? identifiers[0]?.name ?? 'Vulnerability',
    description: parseText(found.description) ?? metadata.description,
    url: repository.html_url && `${repository.html_url}/-/security/vulnerabilities/${found.id}`,
    references: metadata.links,
    rule_id: identifiers[0]?.value ?? identifiers[0]?.name ?? null,
    tool_name: scanner?.name ?? scanner?.id ?? null,
    tool_version: null,
    cwes: identifiers.flatMap(({ type: kind, value }) => (kind === 'cwe' && value ? [parseCwe(value)] : [])),
    package: type === 'dependabot' ? parsePackage(metadata) : null,
    cve_id: cve?.value ?? null,
    ghsa_id: ghsa?.value ?? null,
    advisory_url: type === 'dependabot' ? (cve?.url ?? ghsa?.url ?? identifiers[0]?.url ?? null) : null,
    cvss: null,
    location: file === null ? null : { ...file, start_column: null, end_column: null },
    commit_sha: metadata.commit,
    git_ref: null,
    secret: type === 'secret_scanning' ? parseSecret(metadata) : null,
    detected_at: new Date(found.created_at),
  }
}

type AlertLife = Pick<HostAlert, 'status' | 'fixed_at' | 'dismissal' | 'updated_at'>

function toAlertLife(found: Vulnerability, facts: DismissalFacts): AlertLife {
  const status = parseAlertStatus(found)
  const updatedAt = new Date(found.updated_at ?? found.created_at)
  const fixedAt = status === 'fixed' ? (parseDate(found.resolved_at) ?? updatedAt) : null
  const dismissal = { ...facts, at: parseDate(found.dismissed_at) }
  return { status, fixed_at: fixedAt, dismissal: status === 'dismissed' ? dismissal : null, updated_at: updatedAt }
}

function parseCwe(value: string): string {
  return /^cwe-/i.test(value) ? value.toUpperCase() : `CWE-${value}`
}

function parsePackage({ dependency, file, isSystemPackage }: Metadata): HostAlert['package'] {
  if (dependency === null) return null
  const path = file?.path ?? null
  return {
    ecosystem: isSystemPackage ? 'unknown' : parseEcosystem(path),
    name: dependency.name,
    vulnerable_versions: dependency.version === null ? null : `= ${dependency.version}`,
    patched_version: null,
    manifest_path: path,
  }
}

/** The value of the secret is never read. */
function parseSecret({ identifiers }: Metadata): HostAlert['secret'] {
  const [rule] = identifiers
  return { type: rule?.value ?? 'secret', display_name: rule?.name ?? null, value: null, validity: null }
}

/** The kind of alert for each kind of report that GitLab reads. */
const TYPES: Readonly<Record<string, HostAlertType>> = {
  sast: 'code_scanning',
  sast_iac: 'code_scanning',
  dast: 'code_scanning',
  api_fuzzing: 'code_scanning',
  coverage_fuzzing: 'code_scanning',
  generic: 'code_scanning',
  dependency_scanning: 'dependabot',
  container_scanning: 'dependabot',
  container_scanning_for_registry: 'dependabot',
  cluster_image_scanning: 'dependabot',
  secret_detection: 'secret_scanning',
}

/** Null for a kind of report that we do not know. */
export function parseAlertType(reportType: string): HostAlertType | null {
  return TYPES[reportType] ?? null
}

const SEVERITIES: Readonly<Record<string, HostAlert['severity']>> = {
  critical: 'critical',
  high: 'high',
  medium: 'medium',
  low: 'low',
  info: 'info',
}

export function parseSeverity(severity: string | null | undefined): HostAlert['severity'] {
  return SEVERITIES[severity ?? ''] ?? 'medium'
}

type Life = { state: string; resolved_on_default_branch?: boolean | null }

/** What the scanner no longer finds on the default branch stays `detected` at GitLab. */
export function parseAlertStatus({ state, resolved_on_default_branch: isGone }: Life): HostAlert['status'] {
  if (state === 'dismissed' || state === 'closed') return 'dismissed'
  return state === 'resolved' || isGone ? 'fixed' : 'open'
}

const ECOSYSTEMS: [file: RegExp, ecosystem: string][] = [
  [/^(?:package(?:-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml)$/, 'npm'],
  [/^(?:pom\.xml|build\.gradle(?:\.kts)?|gradle\.lockfile|build\.sbt|maven\.graph\.json)$/, 'maven'],
  [/^(?:requirements.{0,40}\.(?:txt|pip)|Pipfile(?:\.lock)?|poetry\.lock|uv\.lock|setup\.py|pipdeptree\.json)$/, 'pip'],
  [/^(?:Gemfile(?:\.lock)?|gems\.locked)$/, 'rubygems'],
  [/^go\.(?:mod|sum|graph)$/, 'go'],
  [/^composer\.(?:json|lock)$/, 'composer'],
  [/^(?:packages\.lock\.json|.{1,100}\.csproj)$/, 'nuget'],
  [/^Cargo\.(?:toml|lock)$/, 'rust'],
  [/^pubspec\.(?:yaml|lock)$/, 'pub'],
  [/^Package\.resolved$/, 'swift'],
]

/** GitLab names the file and not the package manager. `unknown` for other files. */
function parseEcosystem(path: string | null): string {
  const name = path?.split('/').at(-1) ?? ''
  return ECOSYSTEMS.find(([file]) => file.test(name))?.[1] ?? 'unknown'
}

/** GitLab's own names of fields, and those of the reports that scanners write. */
const Identifier = Type.Object({
  type: Maybe(Text),
  external_type: Maybe(Text),
  name: Maybe(Text),
  value: Maybe(Text),
  external_id: Maybe(Text),
  url: Maybe(Text),
})

const Location = Type.Object({
  file: Maybe(Text),
  start_line: Maybe(Id),
  end_line: Maybe(Id),
  image: Maybe(Text),
  commit: Maybe(Type.Object({ sha: Maybe(Text) })),
  dependency: Maybe(Type.Object({ package: Maybe(Type.Object({ name: Maybe(Text) })), version: Maybe(Text) })),
})

const Details = Type.Object({
  description: Maybe(Text),
  identifiers: Maybe(Type.Array(Identifier)),
  scanner: Maybe(Type.Object({ id: Maybe(Text), external_id: Maybe(Text), name: Maybe(Text) })),
  links: Maybe(Type.Array(Type.Object({ url: Maybe(Text) }))),
  location: Maybe(Location),
})

const Finding = Type.Object({ raw_metadata: Maybe(Text) })

export type Metadata = {
  description: string | null
  identifiers: { type: string | null; name: string | null; value: string | null; url: string | null }[]
  scanner: { id: string | null; name: string | null } | null
  links: string[]
  file: { path: string; start_line: number | null; end_line: number | null } | null
  commit: string | null
  dependency: { name: string; version: string | null } | null
  /** A package of the operating system in an image. */
  isSystemPackage: boolean
}

/** What the report said: fields of the finding, or a JSON text in it. */
export function parseMetadata(finding: unknown): Metadata {
  const given = Object(finding) as object
  const { raw_metadata: raw } = readAs(Finding, given)
  const stated = Object.entries(given).filter(([, value]) => value !== null)
  const details = readAs(Details, { ...parseRaw(raw), ...Object.fromEntries(stated) })
  const { location, scanner } = details
  return {
    description: parseText(details.description),
    identifiers: (details.identifiers ?? []).map(parseIdentifier),
    scanner: scanner
      ? { id: parseText(scanner.id) ?? parseText(scanner.external_id), name: parseText(scanner.name) }
      : null,
    links: (details.links ?? []).flatMap(({ url }) => parseText(url) ?? []),
    file: parseFile(location),
    // Secret detection without history names a commit of zeros.
    commit: parseSha(location?.commit?.sha),
    dependency: parseDependency(location),
    isSystemPackage: Boolean(location?.image),
  }
}

function parseRaw(raw: string | null | undefined): object {
  if (!raw) return {}
  try {
    return Object(JSON.parse(raw)) as object
  } catch {
    return {}
  }
}

function parseIdentifier(found: Static<typeof Identifier>): Metadata['identifiers'][number] {
  return {
    type: parseText(found.type ?? found.external_type)?.toLowerCase() ?? null,
    name: parseText(found.name),
    value: parseText(found.value ?? found.external_id),
    url: parseText(found.url),
  }
}

function parseFile(location: Static<typeof Location> | null | undefined): Metadata['file'] {
  const path = parseText(location?.file)
  if (path === null) return null
  return { path, start_line: location?.start_line || null, end_line: location?.end_line || null }
}

function parseDependency(location: Static<typeof Location> | null | undefined): Metadata['dependency'] {
  const name = parseText(location?.dependency?.package?.name)
  return name === null ? null : { name, version: parseText(location?.dependency?.version) }
}

import {
  boundedText,
  DESCRIPTION_MAX,
  NAME_MAX,
  RULE_ID_MAX,
  TITLE_MAX,
  VERSION_MAX,
} from '../../vocabulary/bounded-text.ts'
import { packageIdentity, parsePackageUrl } from '../../vocabulary/package-url.ts'
import type { SeverityFields } from '../../vocabulary/rating.ts'
import { dependencyIdentity } from './identity.ts'
import type { ParsedFinding, ReportTool } from './parsed-report.ts'

/** The component that a vulnerability is in, as its bill of materials states it. */
export type Component = { name: string | null; version: string | null; purl: string | null; path: string | null }

export const UNKNOWN_COMPONENT: Component = { name: null, version: null, purl: null, path: null }

const PURL_MAX = NAME_MAX + VERSION_MAX

/** A component of these statements: its package URL names it where there is one. */
export function componentOf(stated: {
  name: string | null
  version: string | null
  purl: string | null
  path?: string | null
}): Component {
  const parsed = stated.purl === null ? null : parsePackageUrl(stated.purl)
  return {
    name: boundedText(parsed?.name ?? stated.name, NAME_MAX),
    version: boundedText(stated.version ?? parsed?.version ?? null, VERSION_MAX),
    purl: parsed === null || stated.purl === null ? null : boundedPurl(stated.purl.trim()),
    path: stated.path ?? null,
  }
}

/** Qualifiers make a package URL long; what it names stands before them. */
function boundedPurl(purl: string): string | null {
  return boundedText(purl.length > PURL_MAX ? (purl.split(/[?#]/, 1)[0] ?? purl) : purl, PURL_MAX)
}

/** Why a report itself says that a finding does not count. */
export type Dismissal = { reason: string; comment: string | null }

/** What all findings of one vulnerability share. */
export type Vulnerability = {
  /** As the report writes it; null when it names none. */
  id: string | null
  /** The same one's ids, its own first. */
  ids: string[]
  /** A short summary, where the report has one. */
  summary: string | null
  description: string | null
  url: string | null
  cwes: string[]
  severity: SeverityFields
}

export type DependencyFacts = {
  tool: ReportTool
  vulnerability: Vulnerability
  component: Component
  fixedVersion: string | null
  dismissal: Dismissal | null
}

/** A vulnerable component as a finding. */
export function dependencyFinding({
  tool,
  vulnerability,
  component,
  fixedVersion,
  dismissal,
}: DependencyFacts): ParsedFinding {
  const title = titleOf(vulnerability, component)
  return {
    tool: tool.name,
    tool_version: tool.version,
    kind: 'dependency',
    type: null,
    ...vulnerability.severity,
    state: dismissal === null ? 'open' : 'dismissed',
    dismiss_reason: dismissal?.reason ?? null,
    dismiss_comment: dismissal?.comment ?? null,
    title,
    description: boundedText(vulnerability.description, DESCRIPTION_MAX),
    native_url: vulnerability.url,
    path: component.path,
    start_line: null,
    end_line: null,
    package_name: component.name,
    package_version: component.version,
    fixed_version: boundedText(fixedVersion, VERSION_MAX),
    purl: component.purl,
    vuln_ids: vulnerability.ids,
    cwes: vulnerability.cwes,
    rule_id: boundedText(vulnerability.id, RULE_ID_MAX),
    secret_type: null,
    resource_name: null,
    ...dependencyIdentity(packageIdentity(component), nameOf(vulnerability), component.path),
    context: null,
  }
}

function titleOf({ id, summary }: Vulnerability, { name }: Component): string {
  const plain = name === null ? id : `${id ?? 'Vulnerability'} in ${name}`
  return boundedText(summary ?? plain, TITLE_MAX) ?? 'Vulnerability'
}

/** By what a vulnerability is known in the next report, where it has no id by what it says. */
function nameOf({ ids, summary, description }: Vulnerability): string | null {
  return ids[0] ?? summary ?? description
}

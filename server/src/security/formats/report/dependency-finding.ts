import {
  DESCRIPTION_MAX,
  NAME_MAX,
  RULE_ID_MAX,
  selectTitleLine,
  TITLE_MAX,
  truncateText,
  VERSION_MAX,
} from '../../vocabulary/bounded-text.ts'
import { getPackageIdentity, parsePackageUrl } from '../../vocabulary/package-url.ts'
import type { SeverityFields } from '../../vocabulary/severity.ts'
import { computeDependencyIdentity, type ParsedFinding, type ReportTool } from './parsed-report.ts'

/** A component with a vulnerability, as its bill of materials describes it. */
export type Component = { name: string | null; version: string | null; purl: string | null; path: string | null }

export const UNKNOWN_COMPONENT: Component = { name: null, version: null, purl: null, path: null }

const PURL_MAX = NAME_MAX + VERSION_MAX

type StatedComponent = Omit<Component, 'path'> & { path?: string | null }

/** A component with bounded texts. The name in its package URL counts before its stated name. */
export function toComponent(stated: StatedComponent): Component {
  const parsed = stated.purl === null ? null : parsePackageUrl(stated.purl)
  return {
    name: truncateText(parsed?.name ?? stated.name, NAME_MAX),
    version: truncateText(stated.version ?? parsed?.version ?? null, VERSION_MAX),
    purl: parsed === null || stated.purl === null ? null : boundedPurl(stated.purl.trim()),
    path: stated.path ?? null,
  }
}

/** Without its qualifiers if it is too long: the package is named before them. */
function boundedPurl(purl: string): string | null {
  return truncateText(purl.length > PURL_MAX ? (purl.split(/[?#]/, 1)[0] ?? purl) : purl, PURL_MAX)
}

/** Why the report itself dismisses a finding. */
export type Dismissal = { reason: string; comment: string | null }

/** What all findings of a vulnerability have in common. */
export type Vulnerability = {
  /** The id as the report writes it; null if it has none. */
  id: string | null
  /** All ids of the vulnerability, its own id first. */
  ids: string[]
  summary: string | null
  description: string | null
  url: string | null
  cwes: string[]
  severity: SeverityFields
}

/** What tools write for a version that does not exist. */
const NO_FIX = /^\W{0,3}(?:none|n\/?a|unknown|not?|never|won'?t|will not|without|unfixed|deferred|unavailable)\b/i

/** The version with a fix; null for a text like `None`, `not fixed` or `(won't fix)`. */
export function normalizeFix(text: string | null): string | null {
  const fix = truncateText(text, VERSION_MAX)
  return fix === null || !/\d/.test(fix) || NO_FIX.test(fix.replace('’', "'")) ? null : fix
}

type DependencyFacts = {
  tool: ReportTool
  vulnerability: Vulnerability
  component: Component
  fixedVersion: string | null
  dismissal: Dismissal | null
}

/** The finding for a vulnerable component. */
export function createDependencyFinding({
  tool,
  vulnerability,
  component,
  fixedVersion,
  dismissal,
}: DependencyFacts): ParsedFinding {
  const { id, ids, summary, description } = vulnerability
  const plainTitle = component.name === null ? id : `${id ?? 'Vulnerability'} in ${component.name}`
  // What identifies the vulnerability in the next report: its id, else its text.
  const name = ids[0] ?? summary ?? description
  return {
    tool: tool.name,
    subject: tool.subject ?? null,
    tool_version: tool.version,
    kind: 'dependency',
    type: null,
    ...vulnerability.severity,
    state: dismissal === null ? 'open' : 'dismissed',
    dismiss_reason: dismissal?.reason ?? null,
    dismiss_comment: dismissal?.comment ?? null,
    title: truncateText(selectTitleLine(summary) ?? plainTitle, TITLE_MAX) ?? 'Vulnerability',
    description: truncateText(description, DESCRIPTION_MAX),
    native_url: vulnerability.url,
    path: component.path,
    start_line: null,
    end_line: null,
    start_column: null,
    end_column: null,
    package_name: component.name,
    package_version: component.version,
    fixed_version: normalizeFix(fixedVersion),
    purl: component.purl,
    vuln_ids: ids,
    cwes: vulnerability.cwes,
    rule_id: truncateText(id, RULE_ID_MAX),
    secret_type: null,
    resource_name: null,
    ...computeDependencyIdentity(getPackageIdentity(component), name, component.path),
    similarity: null,
    context: null,
  }
}

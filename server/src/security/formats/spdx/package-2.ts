import { type JsonObject, memberOf, objectsOf, textOf } from '../../../platform/json/read-value.ts'
import { webUrl } from '../../vocabulary/bounded-text.ts'
import { vulnerabilityIds } from '../../vocabulary/vulnerability-ids.ts'
import { type Component, componentOf, dependencyFinding } from '../report/dependency-finding.ts'
import type { ParsedFinding, ReportTool } from '../report/parsed-report.ts'
import { namedVulnerability } from './vulnerability.ts'

/** What SPDX writes where it says nothing (2.3 §7). */
const NOTHING = new Set(['NOASSERTION', 'NONE'])

/** Types of security references (SPDX 2.3 Annex F.2) that identify the package itself. */
const IDENTIFYING = new Set(['cpe22type', 'cpe23type', 'swid'])

/** True for a reference that says something of vulnerabilities, a fix included. */
export function isStatement(reference: unknown): boolean {
  const category = textOf(memberOf(reference, 'referenceCategory'))?.trim().toUpperCase()
  return category === 'SECURITY' && !IDENTIFYING.has(typeName(memberOf(reference, 'referenceType')))
}

/** One finding for each security reference of a package that names a vulnerability. A reference to its fix is none. */
export function findingsOfPackage(tool: ReportTool, entry: JsonObject): ParsedFinding[] {
  const references = objectsOf(entry.externalRefs)
  const component = componentOfPackage(entry, references)
  return references.flatMap((reference) => {
    if (!isStatement(reference) || typeName(reference.referenceType) === 'fix') return []
    const ids = vulnerabilityIds([textOf(reference.referenceLocator) ?? ''])
    return ids.length === 0 ? [] : [findingOf(tool, component, reference, ids)]
  })
}

function componentOfPackage(entry: JsonObject, references: JsonObject[]): Component {
  const purl = references.find(({ referenceType }) => typeName(referenceType) === 'purl')
  return componentOf({
    name: stated(entry.name),
    version: stated(entry.versionInfo),
    purl: textOf(purl?.referenceLocator),
  })
}

function findingOf(tool: ReportTool, component: Component, reference: JsonObject, ids: string[]): ParsedFinding {
  const vulnerability = namedVulnerability(ids, {
    description: textOf(reference.comment),
    url: webUrl(textOf(reference.referenceLocator)),
  })
  return dependencyFinding({ tool, vulnerability, component, fixedVersion: null, dismissal: null })
}

function stated(value: unknown): string | null {
  const text = textOf(value)
  return text === null || NOTHING.has(text.trim().toUpperCase()) ? null : text
}

/** A type may be written as the address of its definition: `http://spdx.org/rdf/references/advisory`. */
function typeName(referenceType: unknown): string {
  const type = textOf(referenceType)?.slice(0, 300).trim().toLowerCase() ?? ''
  return type.slice(type.lastIndexOf('/') + 1)
}

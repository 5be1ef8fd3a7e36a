import { type JsonObject, memberOf, objectsOf, textOf } from '../../../platform/json/read-value.ts'
import { webUrl } from '../../vocabulary/bounded-text.ts'
import { vulnerabilityIds } from '../../vocabulary/vulnerability-id.ts'
import { type Component, componentOf, dependencyFinding } from '../report/dependency-finding.ts'
import type { ParsedFinding, ReportTool } from '../report/parsed-report.ts'
import { namedVulnerability } from './spdx-contents.ts'

/** The values that stand for "not stated" (SPDX 2.3 §7). */
const NOT_STATED = new Set(['NOASSERTION', 'NONE'])

/** Types of security references (SPDX 2.3 Annex F.2) that identify the package itself. */
const IDENTIFYING = new Set(['cpe22type', 'cpe23type', 'swid'])

/** True for an external reference that is about vulnerabilities, including a reference to a fix. */
export function isStatement(reference: unknown): boolean {
  const category = textOf(memberOf(reference, 'referenceCategory'))?.trim().toUpperCase()
  return category === 'SECURITY' && !IDENTIFYING.has(typeName(memberOf(reference, 'referenceType')))
}

/** One finding per security reference that names a vulnerability, except references to a fix. */
export function findingsOfPackage(tool: ReportTool, entry: JsonObject): ParsedFinding[] {
  const references = objectsOf(entry.externalRefs)
  const component = componentOfPackage(entry, references)
  return references.flatMap((reference) => {
    if (!isStatement(reference) || typeName(reference.referenceType) === 'fix') return []
    const ids = vulnerabilityIds([textOf(reference.referenceLocator) ?? ''])
    if (ids.length === 0) return []
    const vulnerability = namedVulnerability(ids, {
      description: textOf(reference.comment),
      url: webUrl(textOf(reference.referenceLocator)),
    })
    return [dependencyFinding({ tool, vulnerability, component, fixedVersion: null, dismissal: null })]
  })
}

function componentOfPackage(entry: JsonObject, references: JsonObject[]): Component {
  const purl = references.find(({ referenceType }) => typeName(referenceType) === 'purl')
  return componentOf({
    name: statedText(entry.name),
    version: statedText(entry.versionInfo),
    purl: textOf(purl?.referenceLocator),
  })
}

function statedText(value: unknown): string | null {
  const text = textOf(value)
  return text === null || NOT_STATED.has(text.trim().toUpperCase()) ? null : text
}

/** `advisory` of both `advisory` and `http://spdx.org/rdf/references/advisory`. */
function typeName(referenceType: unknown): string {
  const type = textOf(referenceType)?.slice(0, 300).trim().toLowerCase() ?? ''
  return type.slice(type.lastIndexOf('/') + 1)
}

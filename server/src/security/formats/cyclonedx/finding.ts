import type { JsonObject } from '../../../platform/json/read-value.ts'
import { textOf } from '../../../platform/json/read-value.ts'
import { type Component, type Dismissal, dependencyFinding, UNKNOWN_COMPONENT } from '../report/dependency-finding.ts'
import type { ParsedFinding, ReportTool } from '../report/parsed-report.ts'
import { type Affected, affectedComponents, isUnaffected } from './affected.ts'
import { dismissalByAnalysis } from './analysis.ts'
import type { ComponentIndex } from './component-index.ts'
import { fixedVersionIn } from './fixed-version.ts'
import { readVulnerability } from './vulnerability.ts'

const UNAFFECTED: Dismissal = { reason: 'not_affected', comment: 'The report lists this version as unaffected.' }

/** One finding per component that the vulnerability names, one without a component where it names none; null when it says nothing. */
export function readFindings(tool: ReportTool, components: ComponentIndex, member: JsonObject): ParsedFinding[] | null {
  const vulnerability = readVulnerability(member)
  if (vulnerability === null) return null
  const dismissal = dismissalByAnalysis(member)
  const recommendation = textOf(member.recommendation)
  const finding = (component: Component, affected: Affected | null) =>
    dependencyFinding({
      tool,
      vulnerability,
      component,
      fixedVersion: fixedVersionIn(recommendation, component.name),
      dismissal: dismissal ?? (affected !== null && isUnaffected(affected, component.version) ? UNAFFECTED : null),
    })
  const affected = affectedComponents(member)
  if (affected.length === 0) return [finding(UNKNOWN_COMPONENT, null)]
  return affected.map((entry) => finding(components.resolve(entry.ref), entry))
}

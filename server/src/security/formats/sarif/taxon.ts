import { arrayOf, type JsonObject, objectOf, objectsOf } from '../../../platform/json/read-value.ts'
import { cwesIn } from '../../vocabulary/cwe.ts'
import { type DescriptorReference, descriptorReference, findComponent } from './component-reference.ts'
import { boundedTexts } from './rule.ts'
import type { SarifRule, SarifRun } from './sarif-run.ts'
import { statedCwes } from './stated-cwe.ts'

/** The guid under which tools that do not embed the CWE taxonomy refer to it. */
const CWE_GUIDS = ['25f72d7e-8a92-459d-ad67-64853f788765', 'ffc64c90-42b6-44ce-8beb-f6b7dae649e5']
const TAXA_MAX = 50

/** What a rule says about its weakness: its taxa (relationships, §3.49.15), its properties, its tags, and an id that is itself a CWE. */
export function cwesOfRule(run: SarifRun, rule: SarifRule): string[] {
  return cwesIn([...rule.taxa.map((taxon) => cweText(run, taxon)), ...rule.cwes, ...rule.tags, rule.id ?? ''])
}

/** CWE ids of a result: its own taxa (§3.27.8) and tags, then its rule's. Without a rule, an id that is itself a CWE. */
export function cwesOf(
  run: SarifRun,
  result: JsonObject,
  rule: SarifRule | undefined,
  ruleId: string | null,
): string[] {
  const properties = objectOf(result.properties)
  const taxa = objectsOf(arrayOf(result.taxa).slice(0, TAXA_MAX)).map(descriptorReference)
  const own = [...taxa.map((taxon) => cweText(run, taxon)), ...boundedTexts(properties?.tags), ...statedCwes(result)]
  if (own.length === 0 && rule !== undefined) return rule.cwes
  return cwesIn([...own, ...(rule?.cwes ?? [ruleId ?? ''])])
}

/** A taxon's id, with `CWE-` before a bare number where its taxonomy is the CWE. */
function cweText(run: SarifRun, { id, index, component }: DescriptorReference): string {
  const taxonomy = component === null ? undefined : findComponent(component, run.taxonomies)
  const taxonId = id ?? (index === null ? undefined : taxonomy?.taxonIds[index]) ?? ''
  const guid = component?.guid ?? taxonomy?.guid ?? ''
  const isCwe = (component?.name ?? taxonomy?.name ?? '').toUpperCase() === 'CWE' || CWE_GUIDS.includes(guid)
  return isCwe && /^\d+$/.test(taxonId) ? `CWE-${taxonId}` : taxonId
}

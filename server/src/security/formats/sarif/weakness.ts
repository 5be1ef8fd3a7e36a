import { arrayOf, type JsonObject, memberOf, objectOf, objectsOf } from '../../../platform/json/read-value.ts'
import { boundedTexts } from '../../vocabulary/bounded-text.ts'
import { cwesIn, cweText } from '../../vocabulary/cwe.ts'
import { descriptorReference, findComponent } from './rule-reference.ts'
import type { DescriptorReference, SarifRule, SarifRun } from './sarif-run.ts'

/** The guids of the CWE taxonomy, by which tools refer to it without including it in the report. */
const CWE_GUIDS = ['25f72d7e-8a92-459d-ad67-64853f788765', 'ffc64c90-42b6-44ce-8beb-f6b7dae649e5']
const TAXA_MAX = 50

/** The CWE ids of a rule: of its relationships (§3.49.15), properties and tags, and its own id. */
export function cwesOfRule(run: SarifRun, rule: SarifRule): string[] {
  return cwesIn([...rule.taxa.map((taxon) => taxonText(run, taxon)), ...rule.cwes, ...rule.tags, rule.id ?? ''])
}

/** The CWE ids of a result: of its taxa (§3.27.8), tags and properties, and then of its rule. */
export function cwesOf(
  run: SarifRun,
  result: JsonObject,
  rule: SarifRule | undefined,
  ruleId: string | null,
): string[] {
  const properties = objectOf(result.properties)
  const taxa = objectsOf(arrayOf(result.taxa).slice(0, TAXA_MAX)).map(descriptorReference)
  const own = [...taxa.map((taxon) => taxonText(run, taxon)), ...boundedTexts(properties?.tags), ...statedCwes(result)]
  if (own.length === 0 && rule !== undefined) return rule.cwes
  return cwesIn([...own, ...(rule?.cwes ?? [ruleId ?? ''])])
}

/** The id of a taxon, as a CWE id if its taxonomy is the CWE. */
function taxonText(run: SarifRun, { id, index, component }: DescriptorReference): string {
  const taxonomy = component === null ? undefined : findComponent(component, run.taxonomies)
  const taxonId = id ?? (index === null ? undefined : taxonomy?.taxonIds[index]) ?? ''
  const guid = component?.guid ?? taxonomy?.guid ?? ''
  const isCwe = (component?.name ?? taxonomy?.name ?? '').toUpperCase() === 'CWE' || CWE_GUIDS.includes(guid)
  return isCwe ? cweText(taxonId) : taxonId
}

/** Properties with CWE ids. Snyk Code writes `"cwe": ["CWE-798"]`, others bare numbers. */
const CWE_PROPERTIES = ['cwe', 'cwes', 'CWE', 'cweId', 'cwe_id', 'cwe-id']
const CWE_VALUES_MAX = 50

/** The texts with CWE ids in the properties of a rule or result. */
export function statedCwes(described: unknown): string[] {
  return CWE_PROPERTIES.flatMap((name) => memberOf(described, 'properties', name) ?? [])
    .slice(0, CWE_VALUES_MAX)
    .map(cweText)
}

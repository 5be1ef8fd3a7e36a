import { type JsonObject, objectsOf, textOf, textsOf } from '../../../platform/json/read-value.ts'
import { webUrl } from '../../vocabulary/bounded-text.ts'
import { vulnerabilityIds } from '../../vocabulary/vulnerability-ids.ts'
import { identifiersOf } from './element-3.ts'
import type { DescribedVulnerability } from './vulnerability-3.ts'

const REFERENCE_TYPES = ['securityAdvisory', 'securityOther']
const REFERENCES_MAX = 1000

/** The vulnerabilities that a package itself refers to, as SPDX 2 documents do and what is converted from them. */
export function vulnerabilitiesReferredTo(element: JsonObject): DescribedVulnerability[] {
  const references = objectsOf(element.externalRef)
    .slice(0, REFERENCES_MAX)
    .filter(({ externalRefType }) => REFERENCE_TYPES.includes(textOf(externalRefType) ?? ''))
  const texts = [...references.flatMap(({ locator }) => textsOf(locator)), ...identifiersOf(element, ['cve'])]
  return texts
    .map((text) => ({ ids: vulnerabilityIds([text]), summary: null, description: null, url: webUrl(text) }))
    .filter(({ ids }) => ids.length > 0)
}

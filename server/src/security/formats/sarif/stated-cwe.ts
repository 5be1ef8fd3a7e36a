import { memberOf } from '../../../platform/json/read-value.ts'

/** Properties in which tools put weaknesses, of a rule or of a result: Snyk Code writes `"cwe": ["CWE-798"]`, others bare numbers. */
const PROPERTIES = ['cwe', 'cwes', 'CWE', 'cweId', 'cwe_id', 'cwe-id']
const VALUES_MAX = 50

/** Texts that tell the weaknesses which the object's properties state. */
export function statedCwes(described: unknown): string[] {
  return PROPERTIES.flatMap((name) => memberOf(described, 'properties', name) ?? [])
    .slice(0, VALUES_MAX)
    .map(weaknessText)
}

function weaknessText(value: unknown): string {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  return /^\d{1,5}$/.test(text) ? `CWE-${text}` : text
}

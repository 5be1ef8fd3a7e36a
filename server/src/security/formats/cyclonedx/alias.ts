import { type JsonObject, objectsOf, textOf } from '../../../platform/json/read-value.ts'
import { boundedText, RULE_ID_MAX } from '../../vocabulary/bounded-text.ts'
import { vulnerabilityIds } from '../../vocabulary/vulnerability-ids.ts'

const IDS_MAX = 50
const ADVISORIES_READ_MAX = 500

/** Databases that give one vulnerability one id. A distribution's advisory is about many at once, so its id is no alias. */
const DATABASES = ['CVE-', 'GHSA-', 'GO-', 'PYSEC-', 'RUSTSEC-', 'OSV-', 'EUVD-', 'SNYK-']

/**
 * The vulnerability's ids, its own first: those of its `references`, which by the specification are the same vulnerability elsewhere, and
 * those in addresses of its advisories, where they name exactly one of a database: an advisory also links to what is only related.
 */
export function aliasesOf(id: string | null, vulnerability: JsonObject): string[] {
  const references = objectsOf(vulnerability.references)
    .slice(0, IDS_MAX)
    .map((reference) => canonicalId(textOf(reference.id)))
    .filter((reference) => reference !== null)
    .sort()
  const stated = [...(id === null ? [] : [canonicalId(id) ?? id]), ...references]
  const advisories = objectsOf(vulnerability.advisories).slice(0, ADVISORIES_READ_MAX)
  const linked = vulnerabilityIds(advisories.map(({ url }) => textOf(url)).filter((url) => url !== null))
  return [...new Set([...stated, ...unambiguous(linked, stated)])].slice(0, IDS_MAX)
}

/** An id of a known database in its canonical case, any other as it is. */
function canonicalId(id: string | null): string | null {
  const text = boundedText(id, RULE_ID_MAX)
  const [known] = vulnerabilityIds([text ?? ''])
  return known !== undefined && known.length === text?.length ? known : text
}

function unambiguous(linked: string[], stated: string[]): string[] {
  return DATABASES.flatMap((database) => {
    if (stated.some((id) => id.startsWith(database))) return []
    const ids = linked.filter((id) => id.startsWith(database))
    return ids.length === 1 ? ids : []
  })
}

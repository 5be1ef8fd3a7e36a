import { type JsonObject, textsOf } from '../../platform/json/read-value.ts'
import { isCveId } from './cve-id.ts'

const ALIASES_MAX = 50
const ID_MAX = 200

/**
 * Other ids of the vulnerability that an OSV record is about: its `aliases`; and of its `upstream`, by which a
 * distribution's entry names what it fixes, the CVE where it is the only one. An advisory of several is none of them.
 */
export function aliasesOf(id: string, { aliases, upstream }: JsonObject): string[] {
  const said = new Set([...textsOf(aliases), ...onlyOne(textsOf(upstream))])
  said.delete(id)
  const ids = [...said].filter((alias) => alias.length <= ID_MAX).sort()
  // A list of this length is a collection, and would join what has nothing in common.
  return ids.length > ALIASES_MAX ? [] : ids
}

function onlyOne(upstream: string[]): string[] {
  const cves = upstream.filter(isCveId)
  const named = cves.length > 0 ? cves : upstream
  return named.length === 1 ? named : []
}

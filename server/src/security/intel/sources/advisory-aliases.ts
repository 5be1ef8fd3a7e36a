import { arrayOf, type JsonObject } from '../../../platform/json/read-value.ts'
import { isCveId } from '../../vocabulary/vulnerability-id.ts'
import { advisoryIdOf } from './advisory-id.ts'

const ALIASES_MAX = 50

/**
 * Other ids of the vulnerability that an OSV record is about: its `aliases`; and of its `upstream`, by which a
 * distribution's entry names what it fixes, the CVE where it is the only one. An advisory of several is none of them.
 */
export function aliasesOf(id: string, { aliases, upstream }: JsonObject): string[] {
  const said = new Set([...idsOf(aliases), ...onlyOne(idsOf(upstream))])
  said.delete(id)
  // A list longer than this is a collection, and would join what has nothing in common.
  return said.size > ALIASES_MAX ? [] : [...said].sort()
}

function onlyOne(upstream: string[]): string[] {
  const cves = upstream.filter(isCveId)
  const named = cves.length > 0 ? cves : upstream
  return named.length === 1 ? named : []
}

function idsOf(value: unknown): string[] {
  return arrayOf(value).flatMap((entry) => advisoryIdOf(entry) ?? [])
}

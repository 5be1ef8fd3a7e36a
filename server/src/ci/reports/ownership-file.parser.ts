import { isUtf8 } from 'node:buffer'
import { getMember, toText } from '../../platform/json/read-value.ts'
import { parseCodeOwners } from '../../repositories/code-owners.parser.ts'
import type { Ownership } from './attestation.ts'

export const OWNERSHIP_BYTES_MAX = 256 * 1024
const RULES_MAX = 5000

/**
 * Counts the rules of a file that states who owns which paths: a CODEOWNERS file, or JSON with a
 * list of `{pattern, owners}`. Rules that are not valid are skipped.
 */
export function parseOwnership(bytes: Buffer, format: Ownership['format']): Ownership {
  if (bytes.length > OWNERSHIP_BYTES_MAX) return unread(format, `The file is larger than ${OWNERSHIP_BYTES_MAX} bytes.`)
  if (!isUtf8(bytes)) return unread(format, 'The file is not UTF-8.')
  const text = bytes.toString()
  const rules = format === 'json' ? countJsonRules(text) : (parseCodeOwners(text)?.length ?? Number.POSITIVE_INFINITY)
  if (rules === null) return unread(format, 'The file is not JSON with a list of rules.')
  if (rules > RULES_MAX) return unread(format, `The file has more than ${RULES_MAX} rules.`)
  return { format, rules, error: null }
}

function unread(format: Ownership['format'], error: string): Ownership {
  return { format, rules: 0, error }
}

/** The number of valid rules in a list, or in the member `rules` of an object; otherwise null. */
function countJsonRules(text: string): number | null {
  const value = parsedJson(text)
  const rules = getMember(value, 'rules') ?? value
  return Array.isArray(rules) ? rules.filter((rule) => toText(getMember(rule, 'pattern')) !== null).length : null
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    return null
  }
}

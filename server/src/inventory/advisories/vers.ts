import { VERSION_CHARS_MAX } from '../versions/version-key.ts'
import { toVersionKey, type VersionOrderName } from '../versions/version-orders.ts'
import { ECOSYSTEMS } from './ecosystems.ts'

type Comparator = '=' | '!=' | '<' | '<=' | '>' | '>='
type Constraint = { comparator: Comparator; version: string; key: string }

/** A range of versions of one ecosystem. `constraints` is null for all versions. */
export type VersRange = { order: VersionOrderName; constraints: readonly Constraint[] | null }

/** What is wrong with a range, as a sentence for its sender. */
export type VersProblem = { problem: string }

const CONSTRAINTS_MAX = 100
const TEXT_CHARS_MAX = CONSTRAINTS_MAX * (3 * VERSION_CHARS_MAX + 3)

/**
 * Parses a canonical version range specifier (VERS, package-url/vers-spec), for example
 * `vers:maven/>=2.13.0|<2.15.0`. Constraints are sorted, name each version once, and none is
 * redundant. At most 100 constraints of 300 characters.
 */
export function parseVers(text: string): VersRange | VersProblem {
  const match = text.length > TEXT_CHARS_MAX ? null : /^vers:([a-z0-9.+-]+)\/([!-~]+)$/.exec(text)
  if (match === null) return { problem: 'It must look like vers:npm/>=1.0.0|<2.0.0, in ASCII and without spaces.' }
  const [, scheme = '', list = ''] = match
  const order = ECOSYSTEMS.find(({ type }) => type === scheme)?.order
  if (order === undefined) return { problem: `Its versioning scheme "${scheme.slice(0, 50)}" is not supported.` }
  if (list === '*') return { order, constraints: null }
  const texts = list.split('|')
  if (texts.length > CONSTRAINTS_MAX) return { problem: `It has more than ${CONSTRAINTS_MAX} constraints.` }
  const constraints: Constraint[] = []
  for (const constraint of texts) {
    const parsed = parseConstraint(order, constraint)
    if ('problem' in parsed) return parsed
    constraints.push(parsed)
  }
  const problem = findProblem(constraints)
  return problem === null ? { order, constraints } : { problem }
}

/** Equality has no sign in canonical form, and a version is percent-encoded. */
function parseConstraint(order: VersionOrderName, text: string): Constraint | VersProblem {
  const [, sign = '', encoded = ''] = /^(>=|<=|!=|<|>)?(.*)$/.exec(text) ?? []
  const version = decodeVersion(encoded)
  const key = version === null ? null : toVersionKey(order, version)
  if (version === null || key === null)
    return { problem: `"${encoded.slice(0, 50)}" is not a version of its ecosystem.` }
  return { comparator: (sign === '' ? '=' : sign) as Comparator, version, key }
}

/** Null if the text is not what encoding its version gives. */
function decodeVersion(encoded: string): string | null {
  try {
    const version = decodeURIComponent(encoded)
    const canonical = encodeURIComponent(version).replaceAll('%3A', ':')
    return encoded === canonical || encoded === encodeURIComponent(version) ? version : null
  } catch {
    return null
  }
}

const LOWER = new Set<Comparator>(['>', '>='])
const UPPER = new Set<Comparator>(['<', '<='])

/** The rules of a canonical list (VERS, "Normalized, canonical representation and validation"). */
function findProblem(constraints: readonly Constraint[]): string | null {
  for (const [at, { key, version }] of constraints.entries()) {
    const next = constraints[at + 1]
    if (next === undefined) break
    if (key === next.key) return `It names the version ${version} more than once.`
    if (key > next.key) return `Its versions must be sorted: ${next.version} comes before ${version}.`
  }
  return isRedundant(constraints) ? 'One of its constraints is redundant, so that it is not canonical.' : null
}

/**
 * Leaving out `!=`: an upper bound or an equality is followed by an equality or a lower bound.
 * Leaving out `=` as well: a lower bound is followed by an upper one.
 */
function isRedundant(constraints: readonly Constraint[]): boolean {
  const stated = constraints.filter(({ comparator }) => comparator !== '!=')
  const bounds = stated.filter(({ comparator }) => comparator !== '=')
  const follows = (list: readonly Constraint[], is: (at: Comparator, next: Comparator) => boolean) =>
    list.some(({ comparator }, at) => {
      const next = list[at + 1]
      return next !== undefined && is(comparator, next.comparator)
    })
  return (
    follows(stated, (at, next) => !LOWER.has(at) && UPPER.has(next)) ||
    follows(bounds, (at, next) => LOWER.has(at) === LOWER.has(next)) ||
    follows(stated, (at, next) => LOWER.has(at) && next === '=')
  )
}

/** Whether a range contains a version; null if the version has no order. */
export function isInRange({ order, constraints }: VersRange, version: string): boolean | null {
  if (constraints === null) return true
  const key = toVersionKey(order, version)
  if (key === null) return constraints.some((one) => one.comparator === '=' && one.version === version) ? true : null
  const named = constraints.find((constraint) => constraint.key === key)
  if (named !== undefined) return ['=', '<=', '>='].includes(named.comparator)
  const bounds = constraints.filter(({ comparator }) => comparator !== '=' && comparator !== '!=')
  if (bounds.length === 0) return constraints.every(({ comparator }) => comparator === '!=')
  const above = bounds.find((bound) => bound.key > key)
  return above === undefined ? LOWER.has((bounds.at(-1) as Constraint).comparator) : UPPER.has(above.comparator)
}

import { isDeepStrictEqual } from 'node:util'
import type { PolicyDefinition } from './policy.schema.ts'

/**
 * A part of a policy that differs between two versions. `path` names the part, such as `mode` or
 * `rules.tests-ran.expression`. `before` is null for an added part, `after` for a removed one.
 */
type PolicyDifference = { path: string; before: unknown; after: unknown }

/** How a definition differs from an earlier one. CEL rules are compared by their ids. */
export function compareDefinitions(before: PolicyDefinition, after: PolicyDefinition): PolicyDifference[] {
  const [earlier, later] = [getParts(before), getParts(after)]
  return [...new Set([...earlier.keys(), ...later.keys()])]
    .filter((path) => !isDeepStrictEqual(earlier.get(path), later.get(path)))
    .map((path) => ({ path, before: earlier.get(path) ?? null, after: later.get(path) ?? null }))
}

/** The parts of a definition by their paths, in their order. */
function getParts({ name, mode, bindings, engine }: PolicyDefinition): Map<string, unknown> {
  const { type, ...settings } = engine
  const parts: [string, unknown][] = [
    ['name', name],
    ['mode', mode],
    ['bindings', bindings],
    ['engine', type],
  ]
  if (engine.type !== 'cel') return new Map([...parts, ...Object.entries(settings)])
  const rules = engine.rules.flatMap(({ rule, ...fields }) =>
    Object.entries(fields).map(([field, value]): [string, unknown] => [`rules.${rule}.${field}`, value]),
  )
  const order: [string, unknown] = ['rules', engine.rules.map(({ rule }) => rule)]
  return new Map([...parts, order, ...rules])
}

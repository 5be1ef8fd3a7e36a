import { isDeepStrictEqual } from 'node:util'
import type { Db } from '../../platform/db/sql.ts'
import { createNotFoundError } from '../../platform/http/errors.ts'
import { isUuid } from '../../platform/ids.ts'
import { findById, listRepositories } from '../../repositories/repository.store.ts'
import { getScope, type PolicyDefinition } from './policy.schema.ts'
import { findPolicy, type ListedPolicy, listAllPolicies } from './policy.store.ts'

/** A policy; `repository` names the repository whose file it comes from, as `owner/name`. */
export type NamedPolicy = ListedPolicy & { repository: string | null }

/** Lists the policies of an organization, and then those of all its repositories. */
export async function listNamedPolicies(db: Db, orgId: string): Promise<NamedPolicy[]> {
  const [policies, repositories] = await Promise.all([listAllPolicies(db, orgId), listRepositories(db, orgId)])
  const names = new Map(repositories.map(({ provider, id, full_name }) => [`${provider} ${id}`, full_name]))
  return policies.map((policy) => {
    const { provider, repository_id } = policy
    return { ...policy, repository: names.get(`${provider} ${repository_id}`) ?? repository_id }
  })
}

/** Finds a policy that is not removed. Throws 404. */
export async function requireNamedPolicy(db: Db, orgId: string, id: string): Promise<NamedPolicy> {
  const policy = isUuid(id) ? await findPolicy(db, orgId, id) : null
  if (policy === null) throw createNotFoundError('policy')
  const { provider, repository_id } = policy
  if (provider === null || repository_id === null) return { ...policy, repository: null }
  const repository = await findById(db, orgId, provider, repository_id)
  return { ...policy, repository: repository?.full_name ?? repository_id }
}

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
function getParts({ name, mode, bindings, engine, ...definition }: PolicyDefinition): Map<string, unknown> {
  const { type, ...settings } = engine
  const parts: [string, unknown][] = [
    ['name', name],
    ['mode', mode],
    ['bindings', bindings],
    ['scope', getScope(definition)],
    ['engine', type],
  ]
  if (engine.type !== 'cel') return new Map([...parts, ...Object.entries(settings)])
  const rules = engine.rules.flatMap(({ rule, ...fields }) =>
    Object.entries(fields).map(([field, value]): [string, unknown] => [`rules.${rule}.${field}`, value]),
  )
  const order: [string, unknown] = ['rules', engine.rules.map(({ rule }) => rule)]
  return new Map([...parts, order, ...rules])
}

import { matchEnvironment, matchRepository, type NamedEnvironment } from '../../repositories/repository-identity.ts'
import type { EnvironmentEntry, Exposure } from './environment.schema.ts'
import { isProductionName } from './production-name.ts'

/** What is known about an environment of a repository. */
export type EnvironmentFacts = {
  exposure: Exposure
  /** From 1 to 5; null if nobody has stated it. */
  criticality: number | null
  production: boolean
  /** Whether `production` is stated. Otherwise it follows from the name. */
  isProductionStated: boolean
}

/**
 * The facts of an environment (decisions §11): those of the first entry that matches. What it does
 * not state is unknown, and whether it is production then follows from the name. `repository` of
 * the environment is `host/owner/name`, or `owner/name` if the host is unknown.
 */
export function getEnvironmentFacts(entries: readonly EnvironmentEntry[], target: NamedEnvironment): EnvironmentFacts {
  const entry = entries.find(
    ({ environment, repository }) =>
      (repository === null || matchRepository(repository, target.repository)) &&
      matchEnvironment([environment], target),
  )
  const stated = entry?.production ?? null
  return {
    exposure: entry?.exposure ?? 'unknown',
    criticality: entry?.criticality ?? null,
    production: stated ?? isProductionName(target.environment),
    isProductionStated: stated !== null,
  }
}

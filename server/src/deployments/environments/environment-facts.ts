import { matchEnvironment, matchRepository, type NamedEnvironment } from '../../repositories/repository-identity.ts'
import type { EnvironmentEntry, Exposure } from './environment.schema.ts'

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

const PRODUCTION = ['prod', 'production', 'prd', 'live']
const OTHER = 'pre non not no stage staging stg test dev qa uat preview mirror copy sandbox demo'.split(' ')

/**
 * Whether an environment is production by its name (ci-evidence §4): `prod-eu`, `prd2`, and not
 * `pre-prod`. The parts of a name are separated by what is no letter or digit; digits at their end
 * are dropped.
 */
export function isProductionName(name: string): boolean {
  const parts = name
    .toLowerCase()
    .split(/[^\p{L}\p{N}]/u)
    .map((part) => part.replace(/(?<!\p{N})\p{N}+$/u, ''))
  return parts.some((part) => PRODUCTION.includes(part)) && !parts.some((part) => OTHER.includes(part))
}

/** The rule before that one, which days from before it keep. */
export function isProductionByEarlierRule(name: string): boolean {
  return /(?:^|[-_/ .])(?:production|prod|live)(?:[-_/ .]|$)/i.test(name)
}

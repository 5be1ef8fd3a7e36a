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

import { findHostRepository } from '../../codehosts/connections/find-host-repository.ts'
import { openRepositoryClient } from '../../codehosts/connections/open-client.ts'
import type { Services } from '../../services.ts'
import type { EnvironmentKey, EnvironmentRules } from '../host/host-facts.ts'
import { listWithoutRules, setEnvironmentRules, writeEnvironmentRules } from '../host/host-news.store.ts'
import { lockEnvironment } from '../host/lineage.store.ts'
import { followDeployment } from './follow-deployment.ts'

const NO_RULES = { rule_types: [], reviewers: [], reviewer_teams: [], custom_rules: [] }
const UNKNOWN: EnvironmentRules = { ...NO_RULES, is_known: false }

/**
 * Reads the protection rules of an environment and stores them, also on its deployments that wait.
 * An environment that cannot be read has no known rules.
 */
export async function readEnvironment(services: Services, key: EnvironmentKey): Promise<void> {
  const { org_id, provider, repository_id } = key
  const repository = await findHostRepository(services.sql, org_id, provider, repository_id)
  const client = repository && (await openRepositoryClient(services, org_id, repository))
  if (!client) return takeOver(services, key, UNKNOWN)
  const read = await client.readEnvironment(repository, key.environment)
  const { rule_types, reviewers, reviewer_teams, custom_rules } = read ?? NO_RULES
  await takeOver(services, key, { rule_types, reviewers, reviewer_teams, custom_rules, is_known: true })
}

/** The host cannot be reached: what is known of the deployments does not wait for it. */
export function giveUpEnvironment(services: Services, key: EnvironmentKey): Promise<void> {
  return takeOver(services, key, UNKNOWN)
}

async function takeOver(services: Services, key: EnvironmentKey, rules: EnvironmentRules): Promise<void> {
  const { sql, clock } = services
  if (rules.is_known)
    await sql.begin(async (tx) => {
      await lockEnvironment(tx, key)
      await writeEnvironmentRules(tx, key, rules, clock.now())
    })
  for (const deployment of await listWithoutRules(sql, key, rules.is_known))
    await sql.begin(async (tx) => {
      await lockEnvironment(tx, key)
      await setEnvironmentRules(tx, deployment, rules)
      await followDeployment(services, tx, deployment)
    })
}

import type { HostClient } from '../../codehosts/code-host.ts'
import { openRepository } from '../../codehosts/connections/open-client.ts'
import type { HostRepository } from '../../codehosts/host-repository.ts'
import { isSameEnvironment } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { updateDeploymentRules } from '../host/host-deployment.store.ts'
import { lockEnvironment } from '../host/host-facts.store.ts'
import type { EnvironmentKey, EnvironmentRules } from '../host/host-facts.ts'
import { findWaitingRun, listWithoutRules, updateEnvironmentRules } from '../host/host-news.store.ts'
import { followDeployment } from './apply-deployment.ts'

const NO_RULES: Omit<EnvironmentRules, 'is_known'> = {
  rule_types: [],
  reviewers: [],
  reviewer_teams: [],
  custom_rules: [],
}
const UNKNOWN: EnvironmentRules = { ...NO_RULES, is_known: false }

/**
 * Reads the protection rules of an environment and stores them, also on its deployments that wait.
 */
export async function readEnvironment(services: Services, key: EnvironmentKey): Promise<void> {
  const opened = await openRepository(services, key)
  if (opened === null) return takeOver(services, key, UNKNOWN)
  const { client, repository } = opened
  const read = await client.readEnvironment(repository, key.environment)
  const { rule_types, reviewers, reviewer_teams, custom_rules } =
    read ?? (await readReviewers(services, key, client, repository))
  await takeOver(services, key, { rule_types, reviewers, reviewer_teams, custom_rules, is_known: read !== null })
}

/**
 * If the environment may not be read, the runs that wait for it still name its reviewers. Which
 * other rules it has stays unknown.
 */
async function readReviewers({ sql }: Services, key: EnvironmentKey, client: HostClient, repository: HostRepository) {
  const runId = await findWaitingRun(sql, key)
  const pending = runId === null ? [] : await client.listPendingDeployments(repository, runId)
  const found = pending.find(({ environment }) => isSameEnvironment(key.provider, environment, key.environment))
  if (!found || found.reviewers.length + found.reviewer_teams.length === 0) return NO_RULES
  const { reviewers, reviewer_teams } = found
  return { ...NO_RULES, rule_types: ['required_reviewers'], reviewers, reviewer_teams }
}

/** The host cannot be reached: what is known of the deployments does not wait for it. */
export function abandonEnvironment(services: Services, key: EnvironmentKey): Promise<void> {
  return takeOver(services, key, UNKNOWN)
}

async function takeOver(services: Services, key: EnvironmentKey, rules: EnvironmentRules): Promise<void> {
  const { sql, clock } = services
  if (rules.is_known)
    await sql.begin(async (tx) => {
      await lockEnvironment(tx, key)
      await updateEnvironmentRules(tx, key, rules, clock.now())
    })
  for (const deployment of await listWithoutRules(sql, key, rules.is_known))
    await sql.begin(async (tx) => {
      await lockEnvironment(tx, key)
      await updateDeploymentRules(tx, deployment, rules)
      await followDeployment(services, tx, deployment)
    })
}

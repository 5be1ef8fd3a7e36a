import type { Repository } from './types.ts'

/**
 * The numbers and UUIDs of everything that belongs to a repository, in the order in which it came
 * to be.
 */
export function idsOf(repository: Repository): string[] {
  const { owner, project, workflows, runs, environments, deployments, alerts } = repository
  const oldest = runs.toReversed()
  const jobs = oldest.flatMap(({ attempts }) => attempts.flatMap((attempt) => attempt.jobs))
  const statuses = deployments.toReversed().flatMap((deployment) => [deployment, ...deployment.statuses])
  const all = [repository, owner, project, ...workflows.values(), ...oldest, ...jobs, ...environments.values()]
  return [...new Set([...all, ...statuses, ...alerts])].flatMap(({ id, uuid }) => [String(id), uuid])
}

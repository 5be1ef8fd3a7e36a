import type { Environment, Repository, Reviewer } from '../types.ts'
import type { World } from '../webhooks/world.ts'

export type EnvironmentRules = {
  /** Logins of people, and slugs of teams as `@team`. */
  reviewers?: string[]
  /** Minutes. */
  waitTimer?: number
  branches?: string[]
  /** `ours`, or the slug of another App. */
  customRules?: string[]
}

/** An environment by its name; GitHub creates one without rules when a job names it. */
export function environmentOf(world: World, repository: Repository, name: string): Environment {
  const known = repository.environments.get(name)
  if (known !== undefined) return known
  const environment: Environment = {
    id: world.state.newId(),
    name,
    created_at: world.now(),
    reviewers: [],
    waitTimer: 0,
    branches: null,
    customRules: [],
  }
  repository.environments.set(name, environment)
  return environment
}

/** Replaces all rules of an environment. */
export function setEnvironmentRules(world: World, environment: Environment, rules: EnvironmentRules): void {
  const { state } = world
  environment.reviewers = (rules.reviewers ?? []).map((reviewer) => reviewerOf(world, reviewer))
  environment.waitTimer = rules.waitTimer ?? 0
  environment.branches = rules.branches ?? null
  environment.customRules = (rules.customRules ?? []).map((slug, index) => {
    const ours = slug === 'ours'
    const app = ours ? { id: state.app.id, slug: state.app.slug } : { id: 5000 + index, slug }
    return { id: state.newId(), app: { ...app, ours } }
  })
}

function reviewerOf({ state }: World, reviewer: string): Reviewer {
  if (!reviewer.startsWith('@')) return { type: 'User', account: state.account(reviewer) }
  const slug = reviewer.slice(1)
  return { type: 'Team', id: state.newId(), slug, name: slug }
}

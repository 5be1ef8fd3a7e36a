import type { FakeHost, HostAbilities } from '../hosts/fake-host.ts'
import { idsOf } from '../hosts/ids-of.ts'
import { startRestServer } from '../hosts/rest-server.ts'
import { Stories } from '../hosts/stories/stories.ts'
import { Tokens } from '../hosts/tokens.ts'
import { Trouble } from '../hosts/trouble.ts'
import type { Run } from '../hosts/types.ts'
import { Webhooks } from '../hosts/webhooks.ts'
import { fullName, World } from '../hosts/world.ts'
import { describeGitlab } from './description.ts'
import { sendEvents, signDelivery } from './events.ts'
import type { Edition, Gitlab, GitlabRoutes } from './gitlab.ts'
import { GITLAB_PAGES } from './pages.ts'
import { deploymentRoutes } from './routes/deployments.ts'
import { groupRoutes } from './routes/groups.ts'
import { hookRoutes } from './routes/hooks.ts'
import { mergeRequestRoutes } from './routes/merge-requests.ts'
import { pipelineRoutes } from './routes/pipelines.ts'
import { repositoryRoutes } from './routes/repository.ts'
import { ruleRoutes } from './routes/rules.ts'
import { vulnerabilityRoutes } from './routes/vulnerabilities.ts'

const ALERTS = ['code_scanning', 'dependabot', 'secret_scanning'] as const

const RULES = { comments: true, reruns: true } as const

export const GITLAB_ABILITIES: Record<Edition, HostAbilities> = {
  free: { gate: 'job', reviewers: false, alerts: [], dismissals: [], ...RULES },
  ultimate: { gate: 'rule', reviewers: true, alerts: ALERTS, dismissals: ALERTS, ...RULES },
}

export type FakeGitLabOptions = { edition?: Edition; signs?: boolean }

/** The fake GitLab, with what tests of GitLab alone use. */
export type FakeGitLab = FakeHost & {
  world: World
  url: string
  trouble: Trouble
  hooks: Webhooks
  /** Gives our token another role in its group, as a number. */
  setAccessLevel(level: number): void
  /** A new token of a group. */
  token(login: string): string
  /** A pipeline is one that another pipeline of its project started. */
  makeChild(run: Run): void
  /** A group has another path from now on. */
  renameGroup(login: string, to: string): void
}

/**
 * A GitLab with state on a loopback port. Stories change the state, which sends webhooks; the REST
 * API shows it.
 */
export async function startFakeGitLab(options: FakeGitLabOptions = {}): Promise<FakeGitLab> {
  const { edition = 'ultimate', signs = true } = options
  const server = await startRestServer()
  const world = new World()
  const webhooks = new Webhooks(
    world,
    signDelivery(() => server.url),
  )
  const gitlab: Gitlab = {
    ...{ world, webhooks, edition, signs, url: server.url, accessLevel: 50, approved: new Map() },
    ...{ children: new Set<Run>(), subgroups: new Map() },
  }
  // https://docs.gitlab.com/user/project/integrations/webhooks/, "Temporarily disabled webhooks":
  // "Webhooks are temporarily disabled if they fail four consecutive times. If webhooks fail 40
  // consecutive times, they become permanently disabled." The first ones are enabled again after a
  // minute, and later ones after up to 24 hours. The fake ends no such time, as on the 40th failure.
  webhooks.failuresMax = 4
  const tokens = new Tokens('glpat-')
  const trouble = new Trouble()
  sendEvents(gitlab)
  server.serve({
    routes: routesOf(gitlab),
    pages: GITLAB_PAGES,
    trouble,
    violations: world.violations,
    description: describeGitlab(),
    // https://docs.gitlab.com/api/rest/authentication/, "Personal, project, and group access tokens"
    authenticate: ({ headers }) => tokens.ownerOf(headers['private-token'] as string | undefined),
    errorBody: (status, message) => (status === 401 ? { message: '401 Unauthorized' } : { message }),
  })
  const token = (login: string) => tokens.issue(world.organization(login)).value
  const setAccessLevel = (level: number) => {
    gitlab.accessLevel = level
  }
  const makeChild = (run: Run) => void gitlab.children.add(run)
  const renameGroup = (login: string, to: string) => {
    const group = world.organization(login)
    world.accounts.delete(login.toLowerCase())
    group.login = to
    world.accounts.set(to.toLowerCase(), group)
  }
  const own = { world, url: server.url, trouble, hooks: webhooks, setAccessLevel, token, makeChild, renameGroup }
  return { ...hostOf({ gitlab, tokens, trouble, requests: server.requests, close: () => server.close() }), ...own }
}

function routesOf(gitlab: Gitlab): GitlabRoutes {
  return {
    ...groupRoutes(gitlab),
    ...hookRoutes(gitlab),
    ...repositoryRoutes(gitlab),
    ...pipelineRoutes(gitlab),
    ...deploymentRoutes(gitlab),
    ...mergeRequestRoutes(gitlab),
    ...ruleRoutes(gitlab),
    ...vulnerabilityRoutes(gitlab),
  }
}

type Parts = { gitlab: Gitlab; tokens: Tokens; trouble: Trouble; requests: readonly string[]; close(): Promise<void> }

function hostOf({ gitlab, tokens, trouble, requests, close }: Parts): FakeHost {
  const { world, webhooks, edition, url } = gitlab
  let program = ''
  const connectWith = (server: Parameters<FakeHost['connect']>[0], login: string) => {
    const file = server.secretFile(tokens.issue(world.organization(login)).value)
    const about = ['--org', 'default', '--provider', 'gitlab', '--account', login, '--token-file', file]
    return server.command('provider', 'connect', ...about)
  }
  return {
    provider: 'gitlab',
    name: 'GitLab',
    can: GITLAB_ABILITIES[edition],
    stories: new Stories(world),
    webhooks,
    trouble,
    violations: world.violations,
    requests,
    settings: () => ({ SHIPLOCK_GITLAB_URL: url }),
    follow(address) {
      program = address
    },
    connect: connectWith,
    async rotateCredentials(server, login) {
      await connectWith(server, login)
    },
    revokeOldCredentials: (login) => tokens.revokeOlder(world.organization(login)),
    revokeCredentials: (login) => tokens.revoke(world.organization(login)),
    hookCount(login) {
      const owner = world.organization(login)
      const scopes = [`group ${owner.id}`, ...world.repositoriesOf(owner).map(({ id }) => `project ${id}`)]
      return webhooks.hooks.filter(({ scope, url: to }) => scopes.includes(scope) && to.startsWith(program)).length
    },
    fullName,
    repositoryId: ({ id }) => String(id),
    runId: ({ id }) => `gl_run_${id}`,
    deploymentId: ({ id }) => `gl_deployment_${id}`,
    alertId: ({ type, id, repository }) => `gl_alert_${type}_${repository.id}_${id}`,
    idsOf,
    close,
  }
}

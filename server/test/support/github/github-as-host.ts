import type { FakeHost, HostAbilities } from '../hosts/fake-host.ts'
import type { HostStories } from '../hosts/host-stories.ts'
import type { EnvironmentRules } from '../hosts/types.ts'
import { type FakeGitHub, type FakeGitHubOptions, startFakeGitHub } from './fake-github.ts'
import { fullName } from './state.ts'
import { Stories } from './stories/stories.ts'
import type { Alert, Environment, Repository } from './types.ts'

const ALERTS = ['code_scanning', 'dependabot', 'secret_scanning'] as const

export const GITHUB_ABILITIES: HostAbilities = {
  gate: 'rule',
  reviewers: true,
  comments: true,
  reruns: true,
  alerts: ALERTS,
  dismissals: ALERTS,
}

/** GitHub's stories under the names that they have at every host. */
class GithubStories extends Stories {
  override addEnvironment(repository: Repository, name: string, rules: EnvironmentRules = {}): Environment {
    const { ours = false, ...others } = rules
    return super.addEnvironment(repository, name, { ...others, customRules: ours ? ['ours'] : [] })
  }

  override dismissAlert(alert: Alert, reason: string, fields?: { by?: string; comment?: string }): void {
    super.dismissAlert(alert, WORDS[alert.type][reason] ?? reason, fields)
  }
}

/** GitHub's own words, where they differ from ours. */
const WORDS: Record<Alert['type'], Record<string, string>> = {
  code_scanning: { false_positive: 'false positive', wont_fix: "won't fix", used_in_tests: 'used in tests' },
  dependabot: { false_positive: 'inaccurate', wont_fix: 'tolerable_risk' },
  secret_scanning: {},
}

/** The fake GitHub, in the form in which stories use every host. */
export function hostOfGithub(fake: FakeGitHub): FakeHost {
  const stories: HostStories = new GithubStories(fake.world)
  let { privateKey } = fake.settings
  return {
    provider: 'github',
    name: 'GitHub',
    can: GITHUB_ABILITIES,
    stories,
    webhooks: fake.webhooks,
    trouble: fake.trouble,
    violations: fake.violations,
    requests: fake.requests,
    settings: () => ({
      SHIPLOCK_GITHUB_APP_ID: String(fake.settings.appId),
      SHIPLOCK_GITHUB_PRIVATE_KEY: privateKey,
      SHIPLOCK_GITHUB_WEBHOOK_SECRET: fake.settings.webhookSecret,
      SHIPLOCK_GITHUB_API_URL: fake.settings.apiUrl,
    }),
    follow(url) {
      fake.webhooks.url = `${url}/webhooks/github`
    },
    async connect(server, login) {
      const known = [...fake.world.state.installations.values()].find(({ account }) => account.login === login)
      const installation = known ?? fake.install(login)
      await fake.webhooks.settled()
      const about = ['--org', 'default', '--provider', 'github', '--installation', String(installation.id)]
      return server.command('provider', 'connect', ...about)
    },
    async rotateCredentials(server) {
      privateKey = fake.addKey()
      await server.restart()
    },
    revokeOldCredentials: () => fake.revokeOldKeys(),
    revokeCredentials() {
      fake.addKey()
      fake.revokeOldKeys()
    },
    hookCount: () => null,
    fullName: (repository) => fullName(repository as Repository),
    repositoryId: ({ id }) => String(id),
    runId: ({ id }) => `gh_run_${id}`,
    deploymentId: ({ id }) => `gh_deployment_${id}`,
    alertId: (alert) => {
      const { type, number, repository } = alert as Alert
      return `gh_alert_${type}_${repository.id}_${number}`
    },
    idsOf: (repository) => idsOf(repository as Repository),
    close: () => fake.close(),
  }
}

function idsOf({ id, owner, workflows, runs, deployments }: Repository): string[] {
  const oldest = runs.toReversed()
  const jobs = oldest.flatMap(({ attempts }) => attempts.flatMap((attempt) => attempt.jobs))
  const all = [{ id }, owner, ...workflows.values(), ...oldest, ...jobs, ...deployments.toReversed()]
  return all.map((one) => String(one.id))
}

export async function startGithubHost(options?: FakeGitHubOptions): Promise<FakeHost> {
  return hostOfGithub(await startFakeGitHub(options))
}

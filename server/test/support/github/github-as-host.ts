import type { FakeHost, HostAbilities } from '../hosts/fake-host.ts'
import { idsOf } from '../hosts/ids-of.ts'
import { fullName } from '../hosts/world.ts'
import { type FakeGitHub, type FakeGitHubOptions, startFakeGitHub } from './fake-github.ts'

const ALERTS = ['code_scanning', 'dependabot', 'secret_scanning'] as const

export const GITHUB_ABILITIES: HostAbilities = {
  gate: 'rule',
  reviewers: true,
  comments: true,
  reruns: true,
  alerts: ALERTS,
  dismissals: ALERTS,
}

/** The fake GitHub, in the form in which stories use every host. */
export function hostOfGithub(fake: FakeGitHub): FakeHost {
  let { privateKey } = fake.settings
  return {
    provider: 'github',
    name: 'GitHub',
    can: GITHUB_ABILITIES,
    stories: fake,
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
      const known = [...fake.world.installations.values()].find(({ account }) => account.login === login)
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
    fullName,
    repositoryId: ({ id }) => String(id),
    runId: ({ id }) => `gh_run_${id}`,
    deploymentId: ({ id }) => `gh_deployment_${id}`,
    alertId: ({ type, number, repository }) => `gh_alert_${type}_${repository.id}_${number}`,
    idsOf,
    close: () => fake.close(),
  }
}

export async function startGithubHost(options?: FakeGitHubOptions): Promise<FakeHost> {
  return hostOfGithub(await startFakeGitHub(options))
}

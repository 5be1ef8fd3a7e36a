import { after, before, describe } from 'node:test'
import { AZURE_ABILITIES, startFakeAzure } from '../azure/fake-azure.ts'
import { BITBUCKET_ABILITIES, startFakeBitbucket } from '../bitbucket/fake-bitbucket.ts'
import { GITHUB_ABILITIES, startGithubHost } from '../github/github-as-host.ts'
import { GITLAB_ABILITIES, startFakeGitLab } from '../gitlab/fake-gitlab.ts'
import type { Json } from '../json.ts'
import { REASON } from '../stories.ts'
import type { FakeHost, HostAbilities } from './fake-host.ts'
import { type HostServer, startHostServer } from './host-server.ts'
import type { Deployment, Repository } from './types.ts'

/** The code hosts for which every story is played. */
export const HOSTS: readonly { name: string; can: HostAbilities; start: () => Promise<FakeHost> }[] = [
  { name: 'GitHub', can: GITHUB_ABILITIES, start: startGithubHost },
  { name: 'GitLab', can: GITLAB_ABILITIES.ultimate, start: startFakeGitLab },
  { name: 'Bitbucket', can: BITBUCKET_ABILITIES, start: startFakeBitbucket },
  { name: 'Azure DevOps', can: AZURE_ABILITIES, start: startFakeAzure },
]

/** One host and the program that is connected to it. Each story has an account of its own. */
export class Scene {
  readonly host: FakeHost
  readonly server: HostServer
  #accounts = 0

  constructor(host: FakeHost, server: HostServer) {
    this.host = host
    this.server = server
  }

  newLogin(): string {
    this.#accounts += 1
    return `org${this.#accounts}`
  }

  connect(login: string): Promise<Json> {
    return this.server.connectAccount(this.host, login)
  }

  /** A gate covers the environments `production`, and keys may answer for it. */
  async coverProduction(): Promise<void> {
    const gate = ['--name', 'Production', '--environment', 'production', '--allow-api-keys']
    await this.server.command('gate', 'create', '--org', 'default', ...gate)
  }

  /** A repository in an account of its own, whose `production` has every rule of the host. */
  addGated(name: string): Repository {
    const { stories, can } = this.host
    const repository = stories.addRepository(`${this.newLogin()}/${name}`)
    const reviewers = can.reviewers ? ['grace'] : []
    stories.addEnvironment(repository, 'production', { ours: can.gate !== false, reviewers })
    return repository
  }

  show(deployment: Deployment): Promise<Json> {
    return this.server.get(`/v1/deployments/${this.host.deploymentId(deployment)}`)
  }

  /** The key decides. */
  answer(deployment: Deployment, verb: 'approve' | 'reject'): Promise<{ status: number; body: Json }> {
    return this.server.post(`/v1/deployments/${this.host.deploymentId(deployment)}/${verb}`, { reason: REASON })
  }
}

/**
 * Plays stories for each host of the table, with one program for each. A host's tests are those of
 * what it can do.
 */
export function forEachHost(tell: (scene: () => Scene, can: HostAbilities) => void | Promise<void>): void {
  for (const { name, can, start } of HOSTS)
    describe(name, () => {
      let scene: Scene | undefined
      before(async () => {
        const host = await start()
        scene = new Scene(host, await startHostServer([host]))
      })
      after(() => scene?.server.close())
      tell(() => scene as Scene, can)
    })
}

import type { CodeHost, HostClient, HostCredentials } from '../../../src/codehosts/code-host.ts'
import type { HostRepository } from '../../../src/codehosts/host-repository.ts'
import { createGitlabHost } from '../../../src/codehosts/hosts/gitlab/host.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import type { Repository } from '../hosts/types.ts'
import { type FakeGitLab, type FakeGitLabOptions, startFakeGitLab } from './fake-gitlab.ts'

export const GROUP = 'acme'

/** The code host with a client that is connected to the group `acme` of a fake GitLab. */
export type OpenGitlab = {
  fake: FakeGitLab
  host: CodeHost
  client: HostClient
  /** The credentials that the connection has from now on; null for none. */
  use(credentials: HostCredentials | null): void
  /** A new project of the group, as the host describes it. */
  addProject(name: string): Promise<{ project: Repository; repository: HostRepository }>
}

export async function openGitlab(options?: FakeGitLabOptions): Promise<OpenGitlab> {
  const fake = await startFakeGitLab(options)
  let credentials: HostCredentials | null = { type: 'token', token: fake.token(GROUP) }
  const pace = { timeLimitMs: 5000, waitUnitMs: 1 }
  const readCredentials = async () => credentials
  const host = createGitlabHost({ url: fake.url, readCredentials, log: createLog('silent'), clock: systemClock, pace })
  const { id } = fake.world.organization(GROUP)
  const client = host.open({ id: 'connection', installation_id: String(id), host: await host.host() })
  return {
    ...{ fake, host, client },
    use(given) {
      credentials = given
    },
    async addProject(name) {
      const project = fake.stories.addRepository(`${GROUP}/${name}`)
      const repository = await client.readRepository(String(project.id))
      if (repository === null) throw new Error(`${name} cannot be read`)
      return { project, repository }
    },
  }
}

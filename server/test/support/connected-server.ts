import { type FakeGitHub, startFakeGitHub } from './github/fake-github.ts'
import { hostOfGithub } from './github/github-as-host.ts'
import type { Installation } from './github/types.ts'
import { HostServer, startParts } from './hosts/host-server.ts'
import type { Repository } from './hosts/types.ts'
import type { Json } from './json.ts'

export type Connected = { installation: Installation; connection: Json }

/** The real program, connected to a fake GitHub. */
export class ConnectedServer extends HostServer {
  readonly fake: FakeGitHub

  constructor(started: ConstructorParameters<typeof HostServer>[0], fake: FakeGitHub) {
    super(started)
    this.fake = fake
  }

  /** Installs the App in an account, connects it, and waits for the import. */
  async connect(login: string, repositories?: Repository[]): Promise<Connected> {
    const installation = this.fake.install(login, repositories)
    await this.fake.webhooks.settled()
    const about = ['--org', 'default', '--provider', 'github', '--installation', String(installation.id)]
    const connection = await this.command('provider', 'connect', ...about)
    await this.settled()
    return { installation, connection }
  }
}

/** Starts the program on a database of its own. Nothing is connected yet. */
export async function startConnectedServer(env: Record<string, string> = {}): Promise<ConnectedServer> {
  const fake = await startFakeGitHub()
  return new ConnectedServer(await startParts(env, [hostOfGithub(fake)]), fake)
}

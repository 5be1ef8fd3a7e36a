import { type Clock, HOUR_MS, MINUTE_MS } from '../../../platform/clock.ts'
import { HostRefusal, type RepositoryName } from '../../code-host.ts'
import type { HostAccount } from '../../host-repository.ts'
import { Remembered } from '../../kit/remembered.ts'
import { restPath } from '../../kit/rest-client.ts'
import { parseAccount } from '../objects/account.parser.ts'
import { type ConnectedAccount, parseGroup, parseNamespace } from '../objects/connected-account.parser.ts'
import { type ProjectSettings, parseProjectSettings } from '../objects/project.parser.ts'
import type { GitlabApi } from './gitlab-api.ts'

type Options = {
  api: GitlabApi
  /** The id of the connected namespace. */
  accountId: string
  /** The name of the host, such as `gitlab.com`. */
  host: string
  /** `https://gitlab.com/api/v4` */
  apiUrl: string
  clock: Clock
}

/** What the reads and actions of one connection share. */
export class Session {
  readonly api: GitlabApi
  readonly host: string
  readonly apiUrl: string
  readonly clock: Clock
  readonly #accountId: string
  readonly #accounts: Remembered<ConnectedAccount>
  readonly #settings: Remembered<ProjectSettings>
  readonly #users: Remembered<HostAccount | null>

  constructor({ api, accountId, host, apiUrl, clock }: Options) {
    this.api = api
    this.host = host
    this.apiUrl = apiUrl
    this.clock = clock
    this.#accountId = accountId
    this.#accounts = new Remembered({ read: (id) => findAccount(api, id), clock, ageMsMax: 5 * MINUTE_MS })
    this.#settings = new Remembered({ read: (id) => readSettings(api, id), clock, ageMsMax: 5 * MINUTE_MS })
    this.#users = new Remembered({ read: (id) => readUser(api, id), clock, ageMsMax: HOUR_MS })
  }

  /** The connected account. Its path can change, its id cannot. Throws `HostRefusal` without it. */
  account(): Promise<ConnectedAccount> {
    return this.#accounts.get(this.#accountId)
  }

  settings({ id }: Pick<RepositoryName, 'id'>): Promise<ProjectSettings> {
    return this.#settings.get(id)
  }

  /** Null for an account that was deleted or may not be read. */
  user(id: string): Promise<HostAccount | null> {
    return this.#users.get(id)
  }

  /** The user that our token belongs to. */
  async self(): Promise<HostAccount | null> {
    return this.#users.get('')
  }
}

async function findAccount(api: GitlabApi, id: string): Promise<ConnectedAccount> {
  const account = await readConnectedAccount(api, id)
  if (account === null) throw new HostRefusal(404, `GitLab has no group ${id} that the token may read.`)
  return account
}

/** The group, or the namespace of a user, with this id or path. Null if it may not be read. */
export async function readConnectedAccount(api: GitlabApi, id: string): Promise<ConnectedAccount | null> {
  const group = await api.read(restPath`/groups/${id}`, { with_projects: false })
  if (group !== null) return parseGroup(group)
  const namespace = await api.read(restPath`/namespaces/${id}`)
  return namespace && parseNamespace(namespace)
}

async function readSettings(api: GitlabApi, id: string): Promise<ProjectSettings> {
  return parseProjectSettings((await api.read(projectPath({ id }))) ?? {})
}

async function readUser(api: GitlabApi, id: string): Promise<HostAccount | null> {
  const user = await api.read(id === '' ? '/user' : restPath`/users/${id}`)
  return user && parseAccount(user)
}

/** `/projects/7` */
export function projectPath({ id }: Pick<RepositoryName, 'id'>): string {
  return restPath`/projects/${id}`
}

import { Type } from 'typebox'
import { ApiError } from '../../../../platform/http/errors.ts'
import type { HostInstallation } from '../../../code-host.ts'
import { dateOrNull, Maybe, readAs, Timestamp, textOrNull } from '../../../kit/payload.ts'
import { type RestClient, restPath } from '../../../kit/rest-client.ts'
import { CredentialsRefused } from '../../../kit/rest-error.ts'
import { pageOf } from '../client/page.ts'
import { bareUuid, bracedUuid, isBitbucketUuid } from '../client/uuid.ts'
import { Workspace } from '../objects/repository.parser.ts'

/**
 * The workspace with this UUID or slug. Tokens of a repository may not read the workspace itself,
 * but its repositories name it. Throws 400 `invalid_credentials`.
 */
export async function readWorkspace(rest: RestClient, idOrSlug: string): Promise<HostInstallation | null> {
  const name = isBitbucketUuid(idOrSlug) ? bracedUuid(bareUuid(idOrSlug)) : idOrSlug
  try {
    const found =
      (await rest.read({ path: restPath`/workspaces/${name}` })) ?? (await workspaceOfRepository(rest, name))
    return found === null ? null : installationOf(found)
  } catch (error) {
    if (!(error instanceof CredentialsRefused)) throw error
    throw new ApiError(400, 'invalid_credentials', error.message).causedBy(error)
  }
}

const OfWorkspace = Type.Object({ workspace: Workspace })

async function workspaceOfRepository(rest: RestClient, name: string): Promise<unknown> {
  const body = await rest.read({ path: restPath`/repositories/${name}`, query: { pagelen: 1 } })
  const [first] = body === null ? [] : pageOf(body).values
  return first === undefined ? null : readAs(OfWorkspace, first).workspace
}

const Read = Type.Object({ ...Workspace.properties, updated_on: Maybe(Timestamp) })

function installationOf(value: unknown): HostInstallation {
  const { uuid, slug, name, updated_on } = readAs(Read, value)
  const id = bareUuid(uuid)
  const login = textOrNull(slug) ?? textOrNull(name) ?? id
  const account = { id, login, type: 'workspace' }
  return { id, account, repositories: 'all', suspended: false, updated_at: dateOrNull(updated_on) }
}

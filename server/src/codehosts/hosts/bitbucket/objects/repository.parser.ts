import { type Static, Type } from 'typebox'
import type { HostAccount, HostRepository } from '../../../host-repository.ts'
import { dateOrNull, Maybe, readAs, Text, Timestamp, textOrNull } from '../../../kit/payload.ts'
import { bareUuid } from '../client/uuid.ts'

const Link = Maybe(Type.Object({ href: Maybe(Text) }))
export const Links = Maybe(Type.Object({ html: Link, avatar: Link, self: Link }))

/** A person, a workspace, an app or an access token. */
export const Account = Type.Object({
  uuid: Maybe(Text),
  type: Maybe(Text),
  nickname: Maybe(Text),
  username: Maybe(Text),
  display_name: Maybe(Text),
  links: Links,
})

/**
 * Null for deleted accounts. Nicknames are not unique, so the id alone tells accounts apart. Access
 * tokens and apps act as accounts of the type `app_user`.
 */
export function accountOf(account: Static<typeof Account> | null | undefined): HostAccount | null {
  if (!account?.uuid) return null
  const name = textOrNull(account.display_name)
  return {
    id: bareUuid(account.uuid),
    login: textOrNull(account.nickname) ?? textOrNull(account.username) ?? name ?? bareUuid(account.uuid),
    name,
    avatar_url: textOrNull(account.links?.avatar?.href),
    url: textOrNull(account.links?.html?.href),
    is_bot: account.type === 'app_user',
  }
}

export const Workspace = Type.Object({ uuid: Text, slug: Maybe(Text), name: Maybe(Text) })

const Repository = Type.Object({
  uuid: Text,
  full_name: Type.String({ pattern: '^[^/]+/[^/]+$' }),
  workspace: Maybe(Workspace),
  mainbranch: Maybe(Type.Object({ name: Maybe(Text) })),
  is_private: Maybe(Type.Boolean()),
  links: Links,
  updated_on: Maybe(Timestamp),
})

/** Bitbucket's own default for repositories without a first commit. */
const DEFAULT_BRANCH = 'main'

/** Where a repository was read: the name of the host, and the connected workspace. */
export type RepositoryPlace = { host: string; workspace: string }

/** Null for a repository of another workspace. */
export function parseRepository(value: unknown, { host, workspace }: RepositoryPlace): HostRepository | null {
  const repository = readAs(Repository, value)
  const owner = repository.workspace
  if (owner && bareUuid(owner.uuid) !== workspace) return null
  return {
    provider: 'bitbucket',
    host,
    id: bareUuid(repository.uuid),
    full_name: repository.full_name,
    owner_id: workspace,
    default_branch: textOrNull(repository.mainbranch?.name) ?? DEFAULT_BRANCH,
    html_url: textOrNull(repository.links?.html?.href),
    // A repository that is not known to be public is treated as private.
    private: repository.is_private ?? true,
    archived: false,
    updated_at: dateOrNull(repository.updated_on),
  }
}

import { type Static, Type } from 'typebox'
import type { HostAccount, HostRepository } from '../../host-repository.ts'
import { dateOrNull, Id, Maybe, readAs, Text, Timestamp, textOrNull } from '../../kit/payload.ts'

/** A person, an organization or a bot. */
export const Account = Type.Object({
  id: Id,
  login: Text,
  type: Maybe(Text),
  name: Maybe(Text),
  avatar_url: Maybe(Text),
  html_url: Maybe(Text),
})

/** Null for deleted accounts. */
export function accountOf(account: Static<typeof Account> | null | undefined): HostAccount | null {
  if (!account) return null
  return {
    id: String(account.id),
    login: account.login,
    name: textOrNull(account.name),
    avatar_url: textOrNull(account.avatar_url),
    url: textOrNull(account.html_url),
    is_bot: account.type === 'Bot' || account.login.endsWith('[bot]'),
  }
}

/** Only the logins of bots have brackets, so no person can have this one. */
export function isMergeQueue(login: string | null | undefined): boolean {
  return login === 'github-merge-queue[bot]'
}

export function parseAccount(value: unknown): HostAccount {
  return accountOf(readAs(Account, value)) as HostAccount
}

export const Repository = Type.Object({
  id: Id,
  full_name: Type.String({ pattern: '^[^/]+/[^/]+$' }),
  owner: Type.Object({ id: Id, login: Maybe(Text) }),
  default_branch: Maybe(Text),
  html_url: Type.String({ pattern: '^https?://[^/]' }),
  private: Maybe(Type.Boolean()),
  archived: Maybe(Type.Boolean()),
  updated_at: Maybe(Timestamp),
})

/** GitHub's own default for repositories without a first commit. */
const DEFAULT_BRANCH = 'main'

/**
 * The host is that of the repository's web address, which for an Enterprise Server with an address
 * of its own for the API is not that of the API.
 */
export function repositoryOf(repository: Static<typeof Repository>): HostRepository {
  return {
    provider: 'github',
    host: new URL(repository.html_url).host,
    id: String(repository.id),
    full_name: repository.full_name,
    owner_id: String(repository.owner.id),
    default_branch: textOrNull(repository.default_branch) ?? DEFAULT_BRANCH,
    html_url: repository.html_url,
    // A repository that is not known to be public is treated as private.
    private: repository.private ?? true,
    archived: repository.archived ?? false,
    updated_at: dateOrNull(repository.updated_at),
  }
}

export function parseRepository(value: unknown): HostRepository {
  return repositoryOf(readAs(Repository, value))
}

import { type Static, Type } from 'typebox'
import type { HostAccount } from '../../host-repository.ts'
import { Id, Maybe, Text, textOrNull } from '../../kit/payload.ts'

/** An `Actor` is a person, a bot or an organization, and only these types have an id. */
export const ACCOUNT_FIELDS = `__typename login avatarUrl url
  ... on User { databaseId } ... on Bot { databaseId } ... on Organization { databaseId }`

export const GraphAccount = Type.Object({
  __typename: Maybe(Text),
  databaseId: Maybe(Id),
  login: Text,
  name: Maybe(Text),
  avatarUrl: Maybe(Text),
  url: Maybe(Text),
})

/** Null without an id: nothing else identifies an account. */
export function graphAccountOf(account: Static<typeof GraphAccount> | null | undefined): HostAccount | null {
  if (!account?.databaseId) return null
  const isBot = account.__typename === 'Bot'
  return {
    id: String(account.databaseId),
    // REST and webhooks add the suffix to the names of bots.
    login: isBot && !account.login.endsWith('[bot]') ? `${account.login}[bot]` : account.login,
    name: textOrNull(account.name),
    avatar_url: textOrNull(account.avatarUrl),
    url: textOrNull(account.url),
    is_bot: isBot,
  }
}

import { type Static, Type } from 'typebox'
import type { HostAccount } from '../../host-repository.ts'
import { Id, Maybe, readAs, Text, textOrNull } from '../../kit/payload.ts'

/** A person or a bot. */
export const Account = Type.Object({
  id: Id,
  username: Text,
  name: Maybe(Text),
  avatar_url: Maybe(Text),
  web_url: Maybe(Text),
  bot: Maybe(Type.Boolean()),
})

/** The names that GitLab gives to the users of project and group access tokens. */
const TOKEN_USER = /^(?:project|group)_\d+_bot/

/** Null for deleted accounts. */
export function accountOf(account: Static<typeof Account> | null | undefined): HostAccount | null {
  if (!account) return null
  return {
    id: String(account.id),
    login: account.username,
    name: textOrNull(account.name),
    avatar_url: textOrNull(account.avatar_url),
    url: textOrNull(account.web_url),
    is_bot: account.bot ?? TOKEN_USER.test(account.username),
  }
}

export function parseAccount(value: unknown): HostAccount {
  return accountOf(readAs(Account, value)) as HostAccount
}

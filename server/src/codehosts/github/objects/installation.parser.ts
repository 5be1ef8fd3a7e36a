import { type Static, Type } from 'typebox'
import type { HostInstallation } from '../../code-host.ts'
import { Id, Maybe, readAs, Text, TextOrSeconds, timeOf } from '../../kit/payload.ts'

export const Installation = Type.Object({
  id: Id,
  account: Type.Object({ id: Id, login: Maybe(Text), slug: Maybe(Text), type: Maybe(Text) }),
  repository_selection: Maybe(Text),
  suspended_at: Maybe(TextOrSeconds),
  updated_at: Maybe(TextOrSeconds),
})

/** An enterprise has a slug in place of a login, and no type. */
export function installationOf(installation: Static<typeof Installation>): HostInstallation {
  const { account } = installation
  const id = String(account.id)
  return {
    id: String(installation.id),
    account: { id, login: account.login ?? account.slug ?? id, type: account.type ?? 'Enterprise' },
    repositories: installation.repository_selection === 'selected' ? 'selected' : 'all',
    suspended: Boolean(installation.suspended_at),
    updated_at: installation.updated_at ? timeOf(installation.updated_at) : null,
  }
}

export function parseInstallation(value: unknown): HostInstallation {
  return installationOf(readAs(Installation, value))
}

import { type Static, Type } from 'typebox'
import type { HostAccount } from '../../../host-repository.ts'
import { Maybe, Text, textOrNull } from '../../../kit/payload.ts'

/** A person, a group, a service principal or a service of Azure DevOps. */
export const Identity = Type.Object({
  id: Maybe(Text),
  displayName: Maybe(Text),
  uniqueName: Maybe(Text),
  descriptor: Maybe(Text),
  imageUrl: Maybe(Text),
  isContainer: Maybe(Type.Boolean()),
  _links: Maybe(Type.Object({ avatar: Maybe(Type.Object({ href: Maybe(Text) })) })),
})

type IdentityObject = Static<typeof Identity>

/** The kinds of identities in a descriptor: build services, service principals, Azure DevOps. */
const BOT = /^(?:svc|aadsp|s2s)\./
/** Azure DevOps itself, which starts scheduled builds. */
const SYSTEM = /^0000000[0-9a-f]-0000-8888-8000-000000000000$/

/** Null for an identity that has neither an id nor a name. */
export function accountOf(identity: IdentityObject | null | undefined): HostAccount | null {
  const id = textOrNull(identity?.id)?.toLowerCase()
  const login = identity ? loginOf(identity) : null
  if (!identity || !id || login === null) return null
  return {
    id,
    login,
    name: textOrNull(identity.displayName),
    avatar_url: textOrNull(identity._links?.avatar?.href) ?? textOrNull(identity.imageUrl),
    url: null,
    is_bot: BOT.test(identity.descriptor ?? '') || SYSTEM.test(id) || /^build\\/i.test(identity.uniqueName ?? ''),
  }
}

/**
 * The address that people sign in with. Services and groups have a name of the form `scope\id`, so
 * their display name is used.
 */
export function loginOf({ uniqueName, displayName }: IdentityObject): string | null {
  const unique = textOrNull(uniqueName)
  const display = textOrNull(displayName)
  return unique === null || unique.includes('\\') ? (display ?? unique) : unique
}

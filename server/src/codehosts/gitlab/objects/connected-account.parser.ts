import { Type } from 'typebox'
import { Id, readAs, Text } from '../../kit/payload.ts'

/** What a connection is tied to: a group with its subgroups, or the namespace of a user. */
export type ConnectedAccount = { id: string; login: string; type: 'group' | 'user' }

const Group = Type.Object({ id: Id, full_path: Text })

export function parseGroup(value: unknown): ConnectedAccount {
  const { id, full_path } = readAs(Group, value)
  return { id: String(id), login: full_path, type: 'group' }
}

const Namespace = Type.Object({ id: Id, kind: Text, full_path: Text })

/** Groups and users share the ids of namespaces. */
export function parseNamespace(value: unknown): ConnectedAccount {
  const { id, kind, full_path } = readAs(Namespace, value)
  return { id: String(id), login: full_path, type: kind === 'user' ? 'user' : 'group' }
}

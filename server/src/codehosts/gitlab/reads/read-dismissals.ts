import { type Static, Type } from 'typebox'
import { HostRefusal } from '../../code-host.ts'
import { Maybe, readAs, Text } from '../../kit/payload.ts'
import type { GitlabApi } from '../client/gitlab-api.ts'

const Dismissal = Type.Object({ dismissalReason: Maybe(Text), stateComment: Maybe(Text) })
const Found = Type.Record(Type.String(), Type.Union([Dismissal, Type.Null()]))

export type DismissalText = { reason: string | null; comment: string | null }

const IDS_AT_ONCE = 50

/**
 * The reasons and comments of dismissed vulnerabilities, which only GraphQL has. Those that cannot
 * be read are left out.
 */
export async function readDismissals(api: GitlabApi, ids: readonly number[]): Promise<Map<number, DismissalText>> {
  const texts = new Map<number, DismissalText>()
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const part = ids.slice(at, at + IDS_AT_ONCE)
    const found = await queryPart(api, part)
    for (const id of part) {
      const dismissal = found[`v${id}`]
      if (dismissal) texts.set(id, textOf(dismissal))
    }
  }
  return texts
}

async function queryPart(api: GitlabApi, ids: readonly number[]): Promise<Static<typeof Found>> {
  const fields = ids.map(
    (id) => `v${id}: vulnerability(id: "gid://gitlab/Vulnerability/${id}") { dismissalReason stateComment }`,
  )
  try {
    const found = await api.query(`query { ${fields.join('\n')} }`, {})
    return api.parseItem(found, (value) => readAs(Found, value)) ?? {}
  } catch (error) {
    if (error instanceof HostRefusal) return {}
    throw error
  }
}

function textOf({ dismissalReason: reason, stateComment: comment }: Static<typeof Dismissal>): DismissalText {
  return { reason: reason?.toLowerCase() || null, comment: comment || null }
}

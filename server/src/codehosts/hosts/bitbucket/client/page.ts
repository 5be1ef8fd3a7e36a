import { Type } from 'typebox'
import { Maybe, readAs, Text } from '../../../kit/payload.ts'

const Page = Type.Object({ values: Type.Array(Type.Unknown()), next: Maybe(Text) })

/** The parameters by which Bitbucket pages its lists. */
const CURSOR_PARAMETERS = ['page', 'after', 'ctx', 'start', 'cursor']

/** A page as Bitbucket sent it. `next` holds the parameters of the next page. */
export type RawPage = { values: unknown[]; next: string | null }

/**
 * Bitbucket gives the address of the next page. Only the parameters that page are kept of it, so
 * that `next` cannot lead to another address.
 */
export function pageOf(body: unknown): RawPage {
  const { values, next } = readAs(Page, body)
  if (!next || !URL.canParse(next)) return { values, next: null }
  return { values, next: new URLSearchParams(cursorOf(new URL(next).search)).toString() || null }
}

export function cursorOf(query: string): Record<string, string> {
  const parameters = [...new URLSearchParams(query)]
  return Object.fromEntries(parameters.filter(([name]) => CURSOR_PARAMETERS.includes(name)))
}

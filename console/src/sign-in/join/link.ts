import { client } from '../../api/client.ts'

const KEPT = 'shiplock-link'

/** What a setup link, an invitation or a reset link does, as the API describes it. */
export type Link = NonNullable<Awaited<ReturnType<typeof inspectLink>>>

/** Reads what a link does, without using it. */
export async function inspectLink(token: string) {
  const { data } = await client.POST('/app/api/links/inspect', { body: { token } })
  return data?.data
}

/** The token in the address of a link: browsers do not send this part to servers. */
export function readLinkToken(): string {
  return new URLSearchParams(location.hash.slice(1)).get('token') ?? sessionStorage.getItem(KEPT) ?? ''
}

/** Keeps the token of this tab while its user signs in, which may lead to other sites and back. */
export function keepLinkToken(token: string): void {
  sessionStorage.setItem(KEPT, token)
}

export function forgetLinkToken(): void {
  sessionStorage.removeItem(KEPT)
}

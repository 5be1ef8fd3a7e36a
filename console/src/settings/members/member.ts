import type { paths } from '../../api/schema.ts'

export const MEMBERS_PATH = '/app/api/orgs/{org}/members'
export const MEMBER_PATH = '/app/api/orgs/{org}/members/{user_id}'

export type Member = paths[typeof MEMBER_PATH]['get']['responses'][200]['content']['application/json']['data']

/** Who the member is at a code host. Null if nobody has said. */
export function loginAt({ provider_accounts }: Member, provider: string): string | null {
  return provider_accounts.find((account) => account.provider === provider)?.login ?? null
}

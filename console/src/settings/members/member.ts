import type { paths } from '../../api/schema.ts'
import { PROVIDER_NAMES, type Provider } from '../../page/provider-names.ts'

export const MEMBERS_PATH = '/app/api/orgs/{org}/members'
export const MEMBER_PATH = '/app/api/orgs/{org}/members/{user_id}'

export type Member = paths[typeof MEMBER_PATH]['get']['responses'][200]['content']['application/json']['data']

/** Who the member is at a code host. Null if nobody has said. */
export function loginAt({ provider_accounts }: Member, provider: string): string | null {
  return provider_accounts.find((account) => account.provider === provider)?.login ?? null
}

/** The logins of a member with their code hosts: "ada (GitHub), ada.l (GitLab)". Empty without any. */
export function accountsText({ provider_accounts }: Member): string {
  return provider_accounts
    .map(({ provider, login }) => `${login} (${PROVIDER_NAMES[provider as Provider] ?? provider})`)
    .join(', ')
}

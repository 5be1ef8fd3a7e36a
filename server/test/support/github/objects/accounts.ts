import type { Account } from '../../hosts/types.ts'
import type { Installation } from '../types.ts'
import type { Urls } from './urls.ts'

/** GitHub's words for the types of accounts. */
export const ACCOUNT_TYPES = { person: 'User', organization: 'Organization', bot: 'Bot' } as const

export function simpleUser({ api, html }: Urls, { id, login, type }: Account) {
  const url = `${api}/users/${encodeURIComponent(login)}`
  return {
    login,
    id,
    node_id: `U_${id}`,
    avatar_url: `https://avatars.githubusercontent.com/u/${id}?v=4`,
    gravatar_id: '',
    url,
    html_url: type === 'bot' ? `${html}/apps/${login.replace('[bot]', '')}` : `${html}/${login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: ACCOUNT_TYPES[type],
    site_admin: false,
  }
}

export function publicUser(urls: Urls, account: Account) {
  return {
    ...simpleUser(urls, account),
    name: account.name,
    company: null,
    blog: '',
    location: null,
    email: account.email,
    hireable: null,
    bio: null,
    public_repos: 0,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: account.created_at,
    updated_at: account.created_at,
  }
}

export function simpleOrganization({ api }: Urls, { id, login }: Account) {
  const url = `${api}/orgs/${login}`
  return {
    login,
    id,
    node_id: `O_${id}`,
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: `https://avatars.githubusercontent.com/u/${id}?v=4`,
    description: null,
  }
}

export function simpleInstallation({ id }: Installation) {
  return { id, node_id: Buffer.from(`Installation${id}`).toString('base64') }
}

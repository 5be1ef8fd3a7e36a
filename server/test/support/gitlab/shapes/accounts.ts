import type { Account } from '../../hosts/types.ts'
import type { Gitlab } from '../gitlab.ts'

export function userShape({ url }: Pick<Gitlab, 'url'>, { id, login, name, type }: Account) {
  return {
    id,
    username: login,
    name: name ?? login,
    state: 'active',
    locked: false,
    avatar_url: null,
    web_url: `${url}/${login}`,
    ...(type === 'bot' && { bot: true }),
  }
}

export function groupShape({ url }: Gitlab, { id, login }: Account) {
  return {
    id,
    name: login,
    path: login.split('/').at(-1),
    full_name: login,
    full_path: login,
    web_url: `${url}/groups/${login}`,
    visibility: 'private',
    parent_id: null,
  }
}

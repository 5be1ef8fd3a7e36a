import type { Repository } from '../../hosts/types.ts'
import { fullName, type World } from '../../hosts/world.ts'

/** The addresses of the API and of the pages, without a slash at the end. */
export type Urls = { api: string; html: string }

export type Context = Urls & Pick<World, 'account'>

export function apiUrl({ api }: Urls, repository: Repository): string {
  return `${api}/repos/${fullName(repository)}`
}

export function pageUrl({ html }: Urls, repository: Repository): string {
  return `${html}/${fullName(repository)}`
}

import type { Provider } from './catalogue.ts'

/** A repository as its code host describes it. */
export type HostRepository = {
  provider: Provider
  /** The name of the host, such as `github.com`. */
  host: string
  /** The host's id. It stays when the repository is renamed or transferred. */
  id: string
  /** `owner/name` */
  full_name: string
  /** The host's id of the account that the repository belongs to. */
  owner_id: string
  default_branch: string
  html_url: string | null
  private: boolean
  archived: boolean
  /** When the host last changed these facts; null if it does not say. */
  updated_at: Date | null
}

/** An account of a code host: a person, an organization or a bot. */
export type HostAccount = {
  id: string
  login: string
  /** The display name; null if the source does not contain it. */
  name: string | null
  avatar_url: string | null
  url: string | null
  /** True for bots and Apps. */
  is_bot: boolean
}

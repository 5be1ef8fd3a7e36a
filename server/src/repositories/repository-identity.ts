import { matchesGlob } from '../platform/glob.ts'
import { UUID_PATTERN } from '../platform/ids.ts'

/** The supported code hosts. */
export const PROVIDERS = ['github', 'gitlab', 'bitbucket', 'azure'] as const
export type Provider = (typeof PROVIDERS)[number]

/** The form of a provider's repository ids and names. */
type Naming = { host: string; id: RegExp; idForm: string; segmentsMax: number }

const NUMBER = { id: /^[1-9]\d{0,18}$/, idForm: 'a number' }
const UUID = new RegExp(UUID_PATTERN)
/** GitLab allows twenty levels of groups below the top one. */
const GITLAB_SEGMENTS_MAX = 22

const NAMING: Record<Provider, Naming> = {
  github: { host: 'github.com', ...NUMBER, segmentsMax: 2 },
  gitlab: { host: 'gitlab.com', ...NUMBER, segmentsMax: GITLAB_SEGMENTS_MAX },
  bitbucket: { host: 'bitbucket.org', id: UUID, idForm: 'a UUID', segmentsMax: 2 },
  // organization/project/_git/repository
  azure: { host: 'dev.azure.com', id: UUID, idForm: 'a GUID', segmentsMax: 4 },
}

const NAME_CHARS_MAX = 300
const SEGMENT = /^[\p{L}\p{N}._~+@ -]{1,200}$/u
const HOST = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[1-9]\d{0,4})?$/

export function defaultHost(provider: Provider): string {
  return NAMING[provider].host
}

/**
 * A repository id in the form that is stored: UUIDs in lower case, without braces. Null if it is
 * invalid.
 */
export function normalizeRepositoryId(provider: Provider, id: string): string | null {
  const bare = provider === 'bitbucket' ? id.replace(/^\{(.*)\}$/, '$1') : id
  const stored = bare.toLowerCase()
  return NAMING[provider].id.test(stored) ? stored : null
}

/** The form of a provider's repository ids, for messages. */
export function repositoryIdForm(provider: Provider): string {
  return NAMING[provider].idForm
}

/** True for `owner/name`, with groups or a project in between if the provider has them. */
export function isRepositoryName(provider: Provider, name: string): boolean {
  const segments = name.split('/')
  if (name.length > NAME_CHARS_MAX || segments.length < 2 || segments.length > NAMING[provider].segmentsMax)
    return false
  return segments.every((segment) => SEGMENT.test(segment) && segment !== '.' && segment !== '..')
}

/** Splits `host/owner/name` into the host and the name. An address without a slash is a name. */
export function splitAddress(address: string): { host: string; name: string } {
  const slash = address.indexOf('/')
  return { host: address.slice(0, Math.max(0, slash)), name: address.slice(slash + 1) }
}

/** True for a host name in lower case, optionally with a port. */
export function isHost(host: string): boolean {
  return HOST.test(host)
}

/**
 * True if a glob matches a repository: its whole address `host/owner/name`, or the name without the
 * host. Case is ignored, as on code hosts.
 */
export function matchesRepository(pattern: string, repository: string): boolean {
  const [glob, address] = [pattern.toLowerCase(), repository.toLowerCase()]
  return matchesGlob(glob, address) || matchesGlob(glob, splitAddress(address).name)
}

import { UUID_PATTERN } from '../platform/ids.ts'

/** What the program knows of a code host without its code. */
type CodeHostFacts = {
  /** What people call it. */
  name: string
  /** The host of its addresses, unless a server of one's own is connected. */
  host: string
  /** What our ids of its runs, deployments and alerts begin with. */
  idPrefix: string
  /** What its own CI is called in runs that are reported to us. */
  ciSystem: string
  /** Whether its CI runs a job once in an attempt: a repeated one is of the next attempt. */
  runsJobsOnce: boolean
  /**
   * The form of its ids of repositories, how messages describe it, and whether the host writes
   * braces around them, which are not stored.
   */
  repositoryId: { pattern: RegExp; form: string; isBraced?: boolean }
  /** Whether two names of an environment that differ by case only are one environment. */
  ignoresEnvironmentCase: boolean
  /** Whether each server counts its repositories from 1, so that an id alone names none. */
  countsPerServer: boolean
  /** How many parts the names of its repositories have at most: `owner/name` has two. */
  nameSegmentsMax: number
  /** The type of its repositories in package URLs; null: they have none. */
  packageUrlType: string | null
  /**
   * `app`: an installation of our App is connected, and the App has one webhook. `account`: an
   * account is connected with credentials of its own, and has its own webhooks.
   */
  connects: 'app' | 'account'
  /** What is connected, as the command line describes it. */
  account: string
  /** The settings with the addresses of its APIs, and their defaults. */
  addresses: { url: readonly [setting: string, address: string]; sign_in?: readonly [setting: string, address: string] }
  /** What the names of the settings of our App begin with; null without an App. */
  appSettings: string | null
}

const NUMBER = { pattern: /^[1-9]\d{0,18}$/, form: 'a number' }
const UUID = new RegExp(UUID_PATTERN)

/**
 * The supported code hosts: the only place outside of `hosts/` that names one. Enumerations of the
 * API, checks of the database, settings and texts of commands are made of it.
 */
export const CODE_HOSTS = {
  github: {
    name: 'GitHub',
    host: 'github.com',
    idPrefix: 'gh',
    ciSystem: 'github-actions',
    runsJobsOnce: true,
    repositoryId: NUMBER,
    ignoresEnvironmentCase: true,
    countsPerServer: true,
    nameSegmentsMax: 2,
    packageUrlType: 'github',
    connects: 'app',
    account: "GitHub's id of the installation",
    addresses: { url: ['SHIPLOCK_GITHUB_API_URL', 'https://api.github.com'] },
    appSettings: 'SHIPLOCK_GITHUB',
  },
  gitlab: {
    name: 'GitLab',
    host: 'gitlab.com',
    idPrefix: 'gl',
    ciSystem: 'gitlab-ci',
    runsJobsOnce: false,
    repositoryId: NUMBER,
    ignoresEnvironmentCase: false,
    countsPerServer: true,
    // Twenty levels of groups below the top one.
    nameSegmentsMax: 22,
    packageUrlType: 'gitlab',
    connects: 'account',
    account: 'the group on GitLab',
    addresses: { url: ['SHIPLOCK_GITLAB_URL', 'https://gitlab.com'] },
    appSettings: null,
  },
  bitbucket: {
    name: 'Bitbucket',
    host: 'bitbucket.org',
    idPrefix: 'bb',
    ciSystem: 'bitbucket-pipelines',
    runsJobsOnce: false,
    repositoryId: { pattern: UUID, form: 'a UUID', isBraced: true },
    ignoresEnvironmentCase: false,
    countsPerServer: false,
    nameSegmentsMax: 2,
    packageUrlType: 'bitbucket',
    connects: 'account',
    account: 'the workspace on Bitbucket',
    addresses: { url: ['SHIPLOCK_BITBUCKET_API_URL', 'https://api.bitbucket.org'] },
    appSettings: null,
  },
  azure: {
    name: 'Azure DevOps',
    host: 'dev.azure.com',
    idPrefix: 'az',
    ciSystem: 'azure-pipelines',
    runsJobsOnce: false,
    repositoryId: { pattern: UUID, form: 'a GUID' },
    ignoresEnvironmentCase: true,
    countsPerServer: false,
    // organization/project/repository
    nameSegmentsMax: 3,
    packageUrlType: null,
    connects: 'account',
    account: 'the organization on Azure DevOps',
    addresses: {
      url: ['SHIPLOCK_AZURE_DEVOPS_URL', 'https://dev.azure.com'],
      sign_in: ['SHIPLOCK_ENTRA_URL', 'https://login.microsoftonline.com'],
    },
    appSettings: null,
  },
} as const satisfies Record<string, CodeHostFacts>

export type Provider = keyof typeof CODE_HOSTS

export const PROVIDERS = Object.keys(CODE_HOSTS) as [Provider, ...Provider[]]

/** The hosts that count the repositories of each server from 1. */
export const COUNTING_PROVIDERS = PROVIDERS.filter((provider) => getCodeHost(provider).countsPerServer)

/** The hosts whose installations of our App are connected. */
export type AppProvider = {
  [Name in Provider]: (typeof CODE_HOSTS)[Name]['connects'] extends 'app' ? Name : never
}[Provider]

export const APP_PROVIDERS = PROVIDERS.filter(
  (provider): provider is AppProvider => getCodeHost(provider).connects === 'app',
)

export function getCodeHost(provider: Provider): CodeHostFacts {
  return CODE_HOSTS[provider]
}

/** Whether a job runs once in an attempt of a run of a code host, or of one of this CI system. */
export function hasJobsOnce(provider: string, ciSystem: string | null): boolean {
  return PROVIDERS.some((name) => {
    const { ciSystem: own, runsJobsOnce } = getCodeHost(name)
    return runsJobsOnce && (provider === name || ciSystem === own)
  })
}

const AZURE_HOST = CODE_HOSTS.azure.host
const AZURE_SSH_HOSTS: readonly string[] = [`ssh.${AZURE_HOST}`, 'vs-ssh.visualstudio.com']
const AZURE_OLD_HOST = /^([a-z0-9-]+)\.visualstudio\.com$/
/** The port of Bitbucket Server for SSH. */
const BITBUCKET_SERVER_PORT = ':7999'

/**
 * One address for each repository, of those that hosts write for it, as `host/owner/name` with the
 * host in lower case (ci-evidence §1). A path of Bitbucket Server with `/scm/` stays as it is,
 * because a group of GitLab can have this name.
 */
export function normalizeAddress(address: string): string {
  const [host = '', ...path] = address.split('/')
  if (AZURE_SSH_HOSTS.includes(host) && path[0] === 'v3' && path.length === 4)
    return normalizeAddress([AZURE_HOST, ...path.slice(1)].join('/'))
  const organization = AZURE_OLD_HOST.exec(host)?.[1]
  const isCollection = organization !== undefined && /^defaultcollection$/i.test(path[0] ?? '')
  const name = readGitPath(organization === undefined ? path : [organization, ...path.slice(isCollection ? 1 : 0)])
  if (name !== null && (organization !== undefined || host === AZURE_HOST)) return `${AZURE_HOST}/${name}`
  if (!host.endsWith(BITBUCKET_SERVER_PORT) || path.length !== 2) return address
  return [host.slice(0, -BITBUCKET_SERVER_PORT.length), path[0]?.toUpperCase(), path[1]].join('/')
}

/** The name of a repository as its host has it. One host writes `_git` before the last part. */
export function normalizeName(provider: Provider | null, name: string): string {
  return provider === null || provider === 'azure' ? (readGitPath(name.split('/')) ?? name) : name
}

/** Reads `organization/project/_git/name`, which lacks the project if its name is equal. */
function readGitPath(path: readonly string[]): string | null {
  const [organization, project, ...rest] = path.at(-2) === '_git' ? path.toSpliced(-2, 1) : []
  if (organization === undefined || project === undefined || rest.length > 1) return null
  return [organization, project, rest[0] ?? project].join('/')
}

/**
 * The address in which Git finds a repository, without scheme. It was also the name of repositories
 * of Azure DevOps until they had one name, so that statements name them as before.
 */
export function formatCloneAddress(address: string): string {
  const [host, organization, project, name, ...more] = address.split('/')
  if (host !== AZURE_HOST || name === undefined || more.length > 0) return address
  return [host, organization, project, '_git', name].join('/')
}

/** The addresses that a repository had before, each with the part that tells them from others. */
export function listFormerAddresses(address: string): { mark: string; address: string }[] {
  const [host = '', ...path] = address.split('/')
  if (host !== AZURE_HOST) {
    const mark = `${BITBUCKET_SERVER_PORT}/`
    return path.length === 2 && !host.includes(':') ? [{ mark, address: host + mark + path.join('/') }] : []
  }
  const [organization, project, name] = path
  if (path.length !== 3) return []
  return [
    { mark: '/_git/', address: formatCloneAddress(address) },
    ...(project === name ? [{ mark: '/_git/', address: [host, organization, '_git', name].join('/') }] : []),
    { mark: `ssh.${host}/`, address: [`ssh.${host}`, 'v3', ...path].join('/') },
    { mark: '.visualstudio.com/', address: `${organization}.visualstudio.com/${project}/_git/${name}` },
  ]
}

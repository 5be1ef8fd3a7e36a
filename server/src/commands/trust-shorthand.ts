import { UsageError } from '@shiplock/command-line/options'
import type { Conditions } from '../access/oidc-trusts/conditions.ts'
import type { TrustProvider } from '../access/oidc-trusts/token-job.ts'

/** What a shorthand of `trust create` stands for. */
export type TrustTemplate = {
  provider: TrustProvider
  issuer: string
  conditions: Conditions
  /** Null for the origin of the base URL. */
  audience: string | null
  name: string
}

export const SHORTHAND_OPTIONS = {
  github: { type: 'text', value: 'owner/name', about: 'a repository on github.com, or owner/*' },
  gitlab: { type: 'text', value: 'group/project', about: 'a project on gitlab.com, or group/**' },
  bitbucket: { type: 'text', value: 'WORKSPACE', about: 'a workspace of Bitbucket; requires --repository-uuid' },
  'repository-uuid': { type: 'text', value: 'R', about: 'the UUID of the repository on Bitbucket' },
  'workspace-uuid': {
    type: 'text',
    value: 'U',
    about: 'the UUID of the workspace on Bitbucket; its default audience becomes the audience of the trust',
  },
  azure: { type: 'text', value: 'GUID', about: 'the id of an Azure DevOps organization; requires --repository-id' },
  'repository-id': { type: 'text', value: 'RPO_ID', about: 'the id of the repository in Azure Pipelines' },
} as const

type Shorthands = { readonly [Name in keyof typeof SHORTHAND_OPTIONS]?: string | undefined }

/** The claims that name a repository by its path. */
const PATH_CLAIM = /^(?:repository|project_path)=/

type Correctable = Shorthands & { readonly issuer?: string | undefined; readonly condition: readonly string[] }

/**
 * Takes from the options of a trust what no token has, and says so (ci-evidence §6): slashes at the
 * end of the issuer, and the address of the host before the path of a repository.
 */
export function normalizeTrustOptions<Given extends Correctable>(given: Given, say: (line: string) => void): Given {
  const replace = (text: string, matching: string) => {
    if (matching !== text) say(`No token has "${text}"; the trust is for "${matching}".`)
    return matching
  }
  const withoutSlashes = (text: string) => text.replace(/(?<!\/)\/+$/, '')
  const toPath = (text: string, start: string) =>
    text.startsWith(start) ? withoutSlashes(text.slice(start.length)).replace(/\.git$/i, '') : text
  const { github, gitlab, condition } = given
  const issuer = given.issuer && replace(given.issuer, withoutSlashes(given.issuer))
  const corrected = condition.map((text) => {
    const claim = PATH_CLAIM.exec(text)?.[0] ?? ''
    const host = claim && /^https?:\/\/[^/]+\//i.exec(text.slice(claim.length))?.[0]
    return host ? replace(text, `${claim}${toPath(text.slice(claim.length), host)}`) : text
  })
  return {
    ...given,
    ...(issuer && { issuer }),
    ...(github && { github: replace(github, toPath(github, 'https://github.com/')) }),
    ...(gitlab && { gitlab: replace(gitlab, toPath(gitlab, `${issuer ?? 'https://gitlab.com'}/`)) }),
    condition: corrected,
  }
}

/** The template that the options ask for, or null. Throws a `UsageError` for several of them. */
export function selectTemplate(options: Shorthands): TrustTemplate | null {
  refuseAlone(options, 'bitbucket', ['repository-uuid', 'workspace-uuid'])
  refuseAlone(options, 'azure', ['repository-id'])
  const { github, gitlab, bitbucket, azure } = options
  const templates = [
    github === undefined ? null : ofGithub(github),
    gitlab === undefined ? null : ofGitlab(gitlab),
    bitbucket === undefined ? null : ofBitbucket(bitbucket, options),
    azure === undefined ? null : ofAzure(azure, options),
  ].filter((template) => template !== null)
  if (templates.length > 1) throw new UsageError('Only one of --github, --gitlab, --bitbucket and --azure can be given')
  return templates[0] ?? null
}

function refuseAlone(options: Shorthands, main: keyof Shorthands, parts: readonly (keyof Shorthands)[]): void {
  const part = parts.find((name) => options[name] !== undefined)
  if (part !== undefined && options[main] === undefined) throw new UsageError(`--${part} requires --${main}`)
}

function ofGithub(repository: string): TrustTemplate {
  const issuer = 'https://token.actions.githubusercontent.com'
  requirePath('github', repository, 'owner/name')
  return { provider: 'github', issuer, audience: null, conditions: { repository }, name: repository }
}

function ofGitlab(project: string): TrustTemplate {
  requirePath('gitlab', project, 'group/project')
  const conditions = { project_path: project }
  return { provider: 'gitlab', issuer: 'https://gitlab.com', audience: null, conditions, name: project }
}

function ofBitbucket(workspace: string, options: Shorthands): TrustTemplate {
  const repository = requireUuid('repository-uuid', options['repository-uuid'])
  const given = options['workspace-uuid']
  return {
    provider: 'bitbucket',
    issuer: `https://api.bitbucket.org/2.0/workspaces/${encodeURIComponent(workspace)}/pipelines-config/identity/oidc`,
    audience: given === undefined ? null : `ari:cloud:bitbucket::workspace/${requireUuid('workspace-uuid', given)}`,
    conditions: { repositoryUuid: `{${repository}}` },
    name: `${workspace} ${repository}`.slice(-NAME_CHARS_MAX),
  }
}

function ofAzure(organization: string, { 'repository-id': repository }: Shorthands): TrustTemplate {
  if (repository === undefined) throw new UsageError('--azure requires --repository-id')
  return {
    provider: 'azure',
    issuer: `https://vstoken.dev.azure.com/${requireUuid('azure', organization)}`,
    audience: 'api://AzureADTokenExchange',
    conditions: { rpo_id: repository },
    name: repository.slice(-NAME_CHARS_MAX),
  }
}

type JobServer = { baseUrl: string; slug: string }

/** The lines of a workflow whose jobs request the tokens that a trust accepts. */
export function formatJobLines(
  { provider, audience }: { provider: TrustProvider | null; audience: string },
  { baseUrl, slug }: JobServer,
): string[] {
  const { origin } = new URL(baseUrl)
  if (provider === 'gitlab')
    return ['Its jobs need these lines:', '  id_tokens:', '    SHIPLOCK_ID_TOKEN:', `      aud: ${audience}`]
  if (provider !== 'github') return []
  const named = audience === `${origin}/${slug}` ? `SHIPLOCK_ORGANIZATION: ${slug}` : `SHIPLOCK_AUDIENCE: ${audience}`
  const lines = ['permissions:', '  id-token: write', 'env:', `  SHIPLOCK_URL: ${baseUrl}`]
  const all = audience === origin ? lines : [...lines, `  ${named}`]
  return ['Its jobs need these lines:', ...all.map((line) => `  ${line}`)]
}

const NAME_CHARS_MAX = 100
const UUID = /^\{?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\}?$/i

function requirePath(option: string, text: string, form: string): void {
  if (!/^[^/]+\/[^/]/.test(text)) throw new UsageError(`--${option} must be ${form}, not "${text}"`)
}

/** A UUID without braces, in lower case. */
function requireUuid(option: string, text: string | undefined): string {
  if (text === undefined) throw new UsageError(`--${option} is missing`)
  const [, uuid] = UUID.exec(text) ?? []
  if (uuid === undefined) throw new UsageError(`--${option} must be a UUID, not "${text}"`)
  return uuid.toLowerCase()
}

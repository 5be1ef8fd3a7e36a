import type { Schema } from '../../api/client.ts'

const CI_SYSTEMS = ['github', 'gitlab', 'bitbucket', 'azure', 'other'] as const
export type CiSystem = (typeof CI_SYSTEMS)[number]

/** What the form asks for. Which fields count depends on the CI system. */
export type TrustTarget = {
  system: CiSystem
  /** Empty: that of the hosted service. */
  issuer: string
  /** Empty: the default of the organization. */
  audience: string
  repository: string
  workspace: string
  workspaceId: string
  branch: string
  environment: string
  /** `claim=value` lines. */
  conditions: string
}

export type Trusted = {
  provider: Schema<'OidcTrust'>['provider']
  issuer: string
  audience: string | undefined
  conditions: Record<string, string | string[]>
}

/** The issuer, audience and claims of the trust that the form describes (docs/oidc.md). */
export function toTrusted(target: TrustTarget): Trusted {
  const { provider, issuer, audience, claims } = PRESETS[target.system](target)
  const conditions = Object.fromEntries(claims.filter(([, value]) => value !== '' && value.length > 0))
  return { provider, issuer: target.issuer || issuer, audience: target.audience || audience, conditions }
}

type Claims = [claim: string, value: string | string[]][]
type Preset = { provider: Trusted['provider']; issuer: string; audience?: string; claims: Claims }

const PRESETS: Record<CiSystem, (target: TrustTarget) => Preset> = {
  github: ({ repository, branch, environment }) => ({
    provider: 'github',
    issuer: 'https://token.actions.githubusercontent.com',
    claims: [
      ['repository', repository],
      ['ref', branch && `refs/heads/${branch}`],
      ['environment', environment],
    ],
  }),
  gitlab: ({ repository, branch, environment }) => ({
    provider: 'gitlab',
    issuer: 'https://gitlab.com',
    claims: [
      ['project_path', repository],
      ['ref', branch],
      ['ref_type', branch && 'branch'],
      ['environment', environment],
    ],
  }),
  bitbucket: ({ workspace, workspaceId, repository, branch }) => ({
    provider: 'bitbucket',
    issuer: `https://api.bitbucket.org/2.0/workspaces/${workspace}/pipelines-config/identity/oidc`,
    ...(workspaceId && { audience: `ari:cloud:bitbucket::workspace/${withoutBraces(workspaceId)}` }),
    claims: [
      ['repositoryUuid', repository && `{${withoutBraces(repository)}}`],
      ['branchName', branch],
    ],
  }),
  azure: ({ workspace, repository, branch }) => ({
    provider: 'azure',
    issuer: `https://vstoken.dev.azure.com/${workspace}`,
    audience: 'api://AzureADTokenExchange',
    claims: [
      ['rpo_id', repository],
      ['rpo_ref', branch && `refs/heads/${branch}`],
    ],
  }),
  other: ({ conditions }) => ({ provider: null, issuer: '', claims: readConditions(conditions) }),
}

function withoutBraces(uuid: string): string {
  return uuid.replace(/^\{|\}$/g, '')
}

/** Lines of one claim are alternatives. */
function readConditions(lines: string): Claims {
  const pairs = lines
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.includes('='))
    .map((line): [string, string] => [
      line.slice(0, line.indexOf('=')).trim(),
      line.slice(line.indexOf('=') + 1).trim(),
    ])
  const byClaim = Object.groupBy(pairs, ([claim]) => claim)
  return Object.entries(byClaim).map(([claim, found = []]) => {
    const values = found.map(([, value]) => value)
    return [claim, values.length === 1 ? (values[0] as string) : values]
  })
}

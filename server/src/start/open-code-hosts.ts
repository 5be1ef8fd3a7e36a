import type { KeyObject } from 'node:crypto'
// Its metric is there before a host is used.
import '../codehosts/kit/api-fetch.ts'
import type { CodeHost, CodeHosts } from '../codehosts/code-host.ts'
import type { SecretsOfConnections } from '../codehosts/connections/connection-secrets.ts'
import type { AppCredentialsSource } from '../codehosts/hosts/github/app/app-credentials.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { whenNeeded } from '../platform/when-needed.ts'
import type { Provider } from '../repositories/repository-identity.ts'

/** What code hosts need of the program. */
export type CodeHostParts = {
  config: Config
  log: Log
  clock: Clock
  sealingKey: KeyObject
  githubCredentials: AppCredentialsSource
  secretsOfConnections: SecretsOfConnections
}

/**
 * The supported code hosts. None is contacted yet. The code of a host is loaded when it is first
 * used: few installations have more than one, and most commands need none.
 */
export function openCodeHosts(parts: CodeHostParts): CodeHosts {
  const { config, secretsOfConnections, log, clock } = parts
  const readCredentials = async (id: string) => (await secretsOfConnections.read(id))?.credentials ?? null
  const { gitlabUrl, bitbucketApiUrl, azureDevopsUrl, entraUrl } = config.codeHosts
  const openers: Record<Provider, () => Promise<CodeHost>> = {
    github: () => openGithub(parts),
    async gitlab() {
      const { createGitlabHost } = await import('../codehosts/hosts/gitlab/host.ts')
      return createGitlabHost({ url: gitlabUrl, readCredentials, log, clock })
    },
    async bitbucket() {
      const { createBitbucketHost } = await import('../codehosts/hosts/bitbucket/host.ts')
      return createBitbucketHost({ url: bitbucketApiUrl, readCredentials, log, clock })
    },
    async azure() {
      const { createAzureHost } = await import('../codehosts/hosts/azure/host.ts')
      return createAzureHost({
        url: azureDevopsUrl,
        entraUrl,
        sealingKey: parts.sealingKey,
        readCredentials,
        log,
        clock,
      })
    },
  }
  const hosts = new Map(Object.entries(openers).map(([provider, open]) => [provider, whenNeeded(open)]))
  return { get: (provider) => hosts.get(provider)?.() }
}

async function openGithub({ githubCredentials, log, clock }: CodeHostParts): Promise<CodeHost> {
  const { createGithubHost } = await import('../codehosts/hosts/github/host.ts')
  return createGithubHost({ readCredentials: () => githubCredentials.read(), log, clock })
}

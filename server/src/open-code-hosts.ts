import type { KeyObject } from 'node:crypto'
import { createAzureHost } from './codehosts/azure/azure-host.ts'
import { createBitbucketHost } from './codehosts/bitbucket/bitbucket-host.ts'
import type { CodeHost, CodeHosts } from './codehosts/code-host.ts'
import type { SecretsOfConnections } from './codehosts/connections/connection-secrets.ts'
import { readDeliveryHead } from './codehosts/github/delivery-head.ts'
import { createGithubHost } from './codehosts/github/github-host.ts'
import type { AppCredentialsSource } from './codehosts/github/read-app-credentials.ts'
import { createVerify } from './codehosts/github/webhook-signature.ts'
import { createGitlabHost } from './codehosts/gitlab/gitlab-host.ts'
import type { Config } from './config.ts'
import type { Clock } from './platform/clock.ts'
import type { Log } from './platform/log.ts'

/** What code hosts need of the program. */
export type CodeHostParts = {
  config: Config
  log: Log
  clock: Clock
  sealingKey: KeyObject
  githubCredentials: AppCredentialsSource
  secretsOfConnections: SecretsOfConnections
}

/** The supported code hosts. None is contacted yet. */
export function openCodeHosts(parts: CodeHostParts): CodeHosts {
  const { config, secretsOfConnections, log, clock } = parts
  const readCredentials = async (id: string) => (await secretsOfConnections.read(id))?.credentials ?? null
  const { gitlabUrl, bitbucketApiUrl, azureDevopsUrl, entraUrl } = config.codeHosts
  const azure = { url: azureDevopsUrl, entraUrl, sealingKey: parts.sealingKey }
  return new Map([
    ['github', openGithub(parts)],
    ['gitlab', createGitlabHost({ url: gitlabUrl, readCredentials, log, clock })],
    ['bitbucket', createBitbucketHost({ url: bitbucketApiUrl, readCredentials, log, clock })],
    ['azure', createAzureHost({ ...azure, readCredentials, log, clock })],
  ])
}

function openGithub({ githubCredentials, log, clock }: CodeHostParts): CodeHost {
  const readCredentials = () => githubCredentials.read()
  const webhooks = { verify: createVerify(readCredentials), readHead: readDeliveryHead }
  return createGithubHost({ readCredentials, log, clock, webhooks })
}

import type { Schema } from '../api/client.ts'

export type Provider = NonNullable<Schema<'Issue'>['provider']>

export const PROVIDERS = ['github', 'gitlab', 'bitbucket', 'azure'] as const satisfies Provider[]

/** Code hosts as people write them. */
export const PROVIDER_NAMES: Record<Provider, string> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  bitbucket: 'Bitbucket',
  azure: 'Azure DevOps',
}

import type { Schema } from '../../api/client.ts'

type Scope = Schema<'ApiKey'>['scopes'][number]

/** What a key could do that its program should not: sentences to read before it is created. */
export function listKeyWarnings(scopes: readonly Scope[], repositories: string): string[] {
  const isLimited = repositories.trim() !== ''
  const has = (scope: Scope) => scopes.includes(scope)
  return [
    ...(has('write:security-findings') && !isLimited
      ? ['It can close what other API keys have reported about every repository. Name those that its program scans.']
      : []),
    ...(has('write:triage')
      ? [`It can dismiss findings of every sender ${isLimited ? 'in these repositories' : 'in every repository'}.`]
      : []),
    ...(has('write:ci') && has('write:deployments')
      ? ['It opens gates, so it never answers one that was opened in the API. Create two keys, of different people.']
      : []),
    ...(has('write:compliance-override') && !isLimited
      ? ['It can approve what policies block, in every repository.']
      : []),
  ]
}

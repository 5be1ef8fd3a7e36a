import { invalidField } from '../../platform/http/errors.ts'
import { normalizeRepositoryId, type Provider, repositoryIdForm } from '../../repositories/repository-identity.ts'

/**
 * Returns a provider's id of a repository in the form that is stored, so that all spellings name
 * the same repository. Throws 400 that names the field of the request.
 */
export function requireRepositoryId(
  provider: Provider | null,
  id: string,
  fields: { provider: string; id: string },
): string {
  if (provider === null) throw invalidField(fields.provider, 'is required with a repository id')
  const stored = normalizeRepositoryId(provider, id)
  if (stored === null) throw invalidField(fields.id, `must be ${repositoryIdForm(provider)} if provider is ${provider}`)
  return stored
}

import { invalidField } from '../../platform/http/errors.ts'
import { normalizeRepositoryId, type Provider, repositoryIdForm } from '../../repositories/repository-identity.ts'

/**
 * A provider's id of a repository in the one form that is stored, so that no other way to write it makes another
 * repository. Throws 400 that names the field of the request.
 */
export function requireRepositoryId(
  provider: Provider | null,
  id: string,
  fields: { provider: string; id: string },
): string {
  if (provider === null) throw invalidField(fields.provider, 'is required with the id of a repository')
  const stored = normalizeRepositoryId(provider, id)
  if (stored === null)
    throw invalidField(fields.id, `must be ${repositoryIdForm(provider)} where provider is ${provider}`)
  return stored
}

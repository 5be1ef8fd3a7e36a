import { Type } from 'typebox'
import { PROVIDERS } from '../../codehosts/catalogue.ts'
import { OneOf } from '../../platform/http/schemas.ts'

/** `owner/name`, with groups or a project between them on GitLab and Azure. */
export function defineRepositoryName(description: string) {
  const pattern = '^(?!\\s)[^/\\u0000-\\u001f]+(?:/[^/\\u0000-\\u001f]+)+(?<!\\s)$'
  return Type.String({ minLength: 3, maxLength: 300, pattern, description })
}

/** A numeric id, a project id, a UUID or a GUID, depending on the provider. */
export function defineRepositoryId(description: string) {
  return Type.String({ pattern: '^[A-Za-z0-9{}-]{1,100}$', description })
}

/** Filters of a list by repository (specification, "GET /v1/security/findings"). */
export const repositoryFilters = {
  repository: Type.Optional(
    defineRepositoryName(
      'The repository as `owner/name`. Requires `provider` if the name exists on more than one code host.',
    ),
  ),
  provider: Type.Optional(OneOf(PROVIDERS, { description: 'The code host of the repository.' })),
  repository_id: Type.Optional(defineRepositoryId('The id of the repository on the code host. Requires `provider`.')),
}

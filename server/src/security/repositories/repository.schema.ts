import { Type } from 'typebox'
import { OneOf } from '../../platform/http/schemas.ts'
import { PROVIDERS } from '../../repositories/repository-identity.ts'

/** `owner/name`, with groups in between if the provider has groups. */
export const RepositoryName = Type.String({
  minLength: 3,
  maxLength: 300,
  pattern: '^(?!\\s)[^/\\u0000-\\u001f]+(?:/[^/\\u0000-\\u001f]+)+(?<!\\s)$',
})

/** The provider's id: a number, a UUID or a GUID. */
export const RepositoryId = Type.String({ pattern: '^[A-Za-z0-9{}-]{1,100}$' })

/** The filters of lists by repository (specification, GET /v1/security/findings). */
export const repositoryFilters = {
  repository: Type.Optional(
    Type.String({
      ...RepositoryName,
      description: 'Full name of the repository, `owner/name`. Add `provider` if several providers have it.',
    }),
  ),
  provider: Type.Optional(OneOf(PROVIDERS, { description: 'Code host of the repository.' })),
  repository_id: Type.Optional(
    Type.String({ ...RepositoryId, description: "The code host's id of the repository. Requires `provider`." }),
  ),
}

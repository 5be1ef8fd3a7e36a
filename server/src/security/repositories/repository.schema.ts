import { Type } from 'typebox'
import { OneOf } from '../../platform/http/schemas.ts'
import { PROVIDERS } from '../../repositories/repository-identity.ts'

/** `owner/name`, with groups in between where the provider has them. */
export const RepositoryName = Type.String({
  minLength: 3,
  maxLength: 300,
  pattern: '^(?!\\s)[^/\\u0000-\\u001f]+(?:/[^/\\u0000-\\u001f]+)+(?<!\\s)$',
})

/** A number, a project id, a UUID or a GUID, as the provider has it. */
export const RepositoryId = Type.String({ pattern: '^[A-Za-z0-9{}-]{1,100}$' })

/** What narrows a list to a repository (specification, GET /v1/security/findings). */
export const repositoryFilters = {
  repository: Type.Optional(RepositoryName),
  provider: Type.Optional(OneOf(PROVIDERS)),
  repository_id: Type.Optional(RepositoryId),
}

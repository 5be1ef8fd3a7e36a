import { Type } from 'typebox'
import { PROVIDERS } from '../../codehosts/catalogue.ts'
import { RefusedList } from '../../codehosts/setup/code-host.schema.ts'
import { definePageQuery } from '../../platform/http/lists.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'

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

const text = (description: string) => Nullable(Type.String({ description }))
const flag = (description: string) => Nullable(Type.Boolean({ description }))

export const RepositoryListQuery = definePageQuery(1000, 100, {
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 300,
      pattern: '^[^\\u0000]+$',
      description: 'Return only repositories whose name contains this text. Case-insensitive.',
    }),
  ),
})

export const KnownRepository = Closed(
  {
    full_name: Type.String({ description: 'The repository as `owner/name`.' }),
    provider: Nullable(OneOf(PROVIDERS, { description: 'The code host of the repository. Null if it is not known.' })),
    repository_id: text('The id of the repository on the code host. Null if it is not known.'),
    tracked_branch: text('The branch whose findings open issues. Null if the repository is not linked.'),
    connected: Type.Boolean({ description: 'Whether a connected code host reports the repository.' }),
    private: flag('Whether the repository is private. Null if it is not known.'),
    archived: flag('Whether the repository is archived. Null if it is not known.'),
    html_url: text('The URL of the repository on the code host. Null if it is not known.'),
    refusals: Type.Array(RefusedList, {
      description: 'What the connected code host refused when the repository was last synchronized.',
    }),
    created_at: { ...Timestamp, description: 'When the repository was first seen.' },
  },
  { $id: 'KnownRepository', description: 'A repository that runs or security reports name, or that is connected.' },
)

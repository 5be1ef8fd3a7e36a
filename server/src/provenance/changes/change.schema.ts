import { type Static, Type } from 'typebox'
import { PROVIDERS } from '../../codehosts/catalogue.ts'
import { countFilter, definePageQuery, windowFilters } from '../../platform/http/lists.ts'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { defineRepositoryName } from '../../security/repositories/repository.schema.ts'
import {
  AmendmentKind,
  ChangeRecordFields,
  defineDeviationName,
  defineSha,
  defineText,
  defineTime,
  RecordFacts,
} from './change-record.schema.ts'

const Hash = { pattern: '^[0-9a-f]{64}$' }

/** A position in a chain, as statements show it. */
export const ChainPosition = Closed(
  {
    index: Type.Integer({ minimum: 0, description: "The position in the repository's chain, from 0." }),
    hash: Type.String({
      ...Hash,
      description: 'SHA-256 of the previous hash and the canonical JSON (RFC 8785) of the body, in hexadecimal.',
    }),
    previous_hash: Nullable(
      Type.String({
        ...Hash,
        description: 'The hash of the link before. Null for the first link: 32 zero bytes are hashed.',
      }),
    ),
  },
  { description: 'The link of the hash chain.' },
)

/** A link whose hash was not the expected one. */
export const ChainBreak = Closed({
  index: Type.Integer({ minimum: 0, description: 'The position of the link.' }),
  expected: Type.String({ description: 'The expected hash of the link.' }),
  found: Nullable(Type.String({ description: 'The hash that was found. Null if the link is missing.' })),
  found_at: { ...Timestamp, description: 'When the break was found.' },
  note: Nullable(Type.String({ description: 'What an administrator has recorded about the break.' })),
  acknowledged_at: Nullable({ ...Timestamp, description: 'When the administrator recorded it. Null until then.' }),
})

export const ChangeQuery = definePageQuery(100, 50, {
  ...countFilter,
  ...windowFilters,
  repository: Type.Optional(
    defineRepositoryName(
      'Return only changes of the repository that has this name now, as `owner/name`. Requires `provider` if the name exists on more than one code host.',
    ),
  ),
  provider: Type.Optional(OneOf(PROVIDERS, { description: 'The code host of the repository. Requires `repository`.' })),
  branch: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[^\\u0000]+$',
      description: 'Return only changes of the branch with exactly this name, without `refs/heads/`.',
    }),
  ),
  deviation: Type.Optional(defineDeviationName({ description: 'Return only changes with this deviation.' })),
  commit: Type.Optional(
    defineSha(
      'Return only changes that contain the commit with this SHA: a commit of the pull request or the push, or one that the merge created.',
    ),
  ),
})
export type ChangeQuery = Static<typeof ChangeQuery>

export const ChangePath = Closed({
  id: Type.String({
    ...ItemId,
    description:
      'The id of the change, or `pr_<provider>_<repository id>_<number>` for the change of a pull request, such as `pr_github_1001_7`.',
  }),
})

const Amendment = Closed(
  {
    kind: AmendmentKind,
    at: defineTime('When the fact was added.'),
    facts: RecordFacts,
    chain: ChainPosition,
  },
  { description: 'A fact that became known after the record was written.' },
)

const changeFields = {
  ...ChangeRecordFields,
  deviations: Type.Array(defineDeviationName(), {
    description:
      'How the change deviates from a reviewed and checked merge, including deviations that amendments added.',
  }),
  recorded_deviations: Type.Array(defineDeviationName(), {
    description: 'The deviations that the record states, without those that amendments added.',
  }),
  amendments: Type.Array(Amendment, {
    description: 'The facts that became known after the record was written, oldest first. At most 1,000.',
  }),
  chain: ChainPosition,
  created_at: defineTime('When the change landed. Lists are sorted by it.'),
  recorded_at: defineTime('When the record was written.'),
}

export const Change = Closed(changeFields, {
  $id: 'Change',
  description: 'A change that landed on the tracked branch of a connected repository.',
})

export const ListedChange = Closed(
  {
    ...changeFields,
    omitted: Type.Array(defineText('The path of a field, such as `commits.list`.'), {
      description:
        'The fields that are empty arrays here because the change is longer than 16 KiB. Get the change to read them.',
    }),
  },
  { $id: 'ListedChange', description: 'A change in a list. Long changes are listed without their long parts.' },
)

import { Type } from 'typebox'
import { definePageQuery } from '../../platform/http/lists.ts'
import { Closed, OneOf } from '../../platform/http/schemas.ts'
import { UUID_PATTERN } from '../../platform/ids.ts'
import { repositoryFilters } from '../repositories/repository.schema.ts'
import { NAME_MAX, PATH_MAX } from '../vocabulary/bounded-text.ts'
import { FINDING_KINDS, FINDING_STATES } from '../vocabulary/finding.ts'
import { SEVERITIES } from '../vocabulary/severity.ts'

/** A text that PostgreSQL can store and compare. */
function Filter(maxLength: number, description: string) {
  return Type.Optional(Type.String({ minLength: 1, maxLength, pattern: '^[^\\u0000]*$', description }))
}

export const FindingQuery = definePageQuery(1000, 100, {
  ...repositoryFilters,
  state: Type.Optional(OneOf(FINDING_STATES, { description: 'Return only findings in this state.' })),
  severity: Type.Optional(OneOf(SEVERITIES, { description: 'Return only findings with this severity.' })),
  kind: Type.Optional(OneOf(FINDING_KINDS, { description: 'Return only findings of this kind.' })),
  scanner: Filter(NAME_MAX, 'Return only findings of the scanner with this exact name.'),
  category: Filter(NAME_MAX, 'Return only findings of reports with this exact category.'),
  git_ref: Filter(255, 'Return only findings of this branch or tag. `main` and `refs/heads/main` are the same branch.'),
  path: Filter(
    PATH_MAX,
    'Return only findings whose path, relative to the root of the repository, begins with this text. ' +
      '`src/` selects the files below the directory `src`. No character is a wildcard.',
  ),
  issue_id: Type.Optional(
    Type.String({ pattern: UUID_PATTERN, description: 'Return only findings of the issue with this id.' }),
  ),
  first_seen_since: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Return only findings that were first seen at or after this time.',
    }),
  ),
})

export const FindingPath = Closed({
  id: Type.String({ pattern: UUID_PATTERN, description: 'The id of the finding.' }),
})

import { Type } from 'typebox'
import { OrganizationSlug } from '../../access/gateway/open-to-people.ts'
import { Closed, Nullable } from '../../platform/http/schemas.ts'
import { UUID_PATTERN } from '../../platform/ids.ts'
import { IssuePath } from '../issues/explain/issue-explanation.schema.ts'
import { Issue } from '../issues/issue.schema.ts'
import { TRIAGE_COMMENT_MAX } from './triage.schema.ts'

const id = (description: string) => Type.String({ pattern: UUID_PATTERN, description })

const comment = Type.Optional(
  Nullable(Type.String({ maxLength: TRIAGE_COMMENT_MAX }), {
    description: 'The reason for the change. It is shown in the history of the issues.',
  }),
)

export const EditedIssuePath = Closed({ org: OrganizationSlug, ...IssuePath.properties })

const EDITED_AT_ONCE_MAX = 1000

export const IssueSplit = Closed({
  finding_ids: Type.Array(id('The id of a finding of the issue.'), {
    minItems: 1,
    maxItems: EDITED_AT_ONCE_MAX,
    description: 'The findings that move to the new issue. At least one finding must remain in the issue.',
  }),
  comment,
})

export const IssueMerge = Closed({
  issue_ids: Type.Array(id('The id of an issue.'), {
    minItems: 2,
    maxItems: EDITED_AT_ONCE_MAX,
    description: 'The issues to merge. They must belong to the same repository.',
  }),
  comment,
})

export const EditedIssues = Closed({
  triage_id: Type.String({ description: 'The id of the split or merge, by which it can be undone.' }),
  issues: Type.Array(Issue, {
    description:
      'The issues after the change. For a split, the issue that was split and then the new one. For a merge, the issue ' +
      'that contains all findings.',
  }),
})

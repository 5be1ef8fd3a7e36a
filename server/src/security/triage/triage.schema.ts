import { type Static, type TSchema, Type } from 'typebox'
import { OrganizationSlug } from '../../access/gateway/open-to-people.ts'
import { countFilter, definePageQuery, windowFilters } from '../../platform/http/lists.ts'
import { Closed, ItemId, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { UUID_PATTERN } from '../../platform/ids.ts'
import { Issue } from '../issues/issue.schema.ts'
import { IssuePath } from '../issues/issue-explanation.schema.ts'
import { TRIAGE_ACTIONS, TRIAGE_SCOPES, TRIAGE_SOURCES } from '../writing/triage.store.ts'

/** Why a person dismisses a finding (console.md §3). */
const TRIAGE_REASONS = ['false_positive', 'wont_fix', 'used_in_tests', 'risk_accepted', 'mitigated'] as const
const TRIAGE_TARGETS_MAX = 1000
export const TRIAGE_COMMENT_MAX = 1000

const text = (description: string) => Nullable(Type.String(), { description })
const time = (description: string) => Type.String({ ...Timestamp, description })
const id = (description: string) => Type.String({ pattern: UUID_PATTERN, description })

function Targets<Id extends TSchema>(ids: Id, description: string) {
  return Type.Optional(Type.Array(ids, { minItems: 1, maxItems: TRIAGE_TARGETS_MAX, description }))
}

export const NewTriageRequest = Closed({
  action: OneOf(['dismiss', 'reopen'], { description: 'Whether to dismiss or to reopen.' }),
  finding_ids: Targets(id('The id of a finding.'), 'The findings to triage.'),
  issue_ids: Targets(id('The id of an issue.'), 'The issues to triage, with all their findings.'),
  alert_ids: Targets(
    Type.String({ ...ItemId, description: 'The id of an alert.' }),
    'The alerts to triage. Each is dismissed or reopened on its code host as well.',
  ),
  reason: Type.Optional(
    OneOf(TRIAGE_REASONS, { description: 'The reason for the dismissal. Required for `dismiss`, and only for it.' }),
  ),
  scope: Type.Optional(
    OneOf(TRIAGE_SCOPES, {
      default: 'issue',
      description:
        'What the dismissal reaches later. `issue`: what repeats a dismissed finding at its place. `vulnerability`: the ' +
        'same vulnerability in the same package of the repository, at any place and in any version. Only for `dismiss`.',
    }),
  ),
  comment: Type.Optional(
    Nullable(Type.String({ maxLength: TRIAGE_COMMENT_MAX, pattern: '^[^\\u0000]*$' }), {
      description: 'A comment. Code hosts receive its first 280 characters.',
    }),
  ),
  expires_at: Type.Optional(
    Nullable(Timestamp, { description: 'When the dismissal ends by itself. Only for `dismiss`.' }),
  ),
})
export type NewTriageRequest = Static<typeof NewTriageRequest>

const STATUSES = ['active', 'undone', 'expired', 'replaced'] as const

export const TriageQuery = definePageQuery(100, 50, {
  ...countFilter,
  ...windowFilters,
  action: Type.Optional(OneOf(TRIAGE_ACTIONS, { description: 'Return only triages with this action.' })),
  source: Type.Optional(OneOf(TRIAGE_SOURCES, { description: 'Return only triages of this source.' })),
  status: Type.Optional(OneOf(STATUSES, { description: 'Return only triages with this status.' })),
  finding_id: Type.Optional(id('Return only triages that affect this finding.')),
  issue_id: Type.Optional(id('Return only triages of this issue, or that affect a finding of it.')),
})
export type TriageQuery = Static<typeof TriageQuery>

export const TriageId = id('The id of the triage.')

/** A decision about findings. */
export const Triage = Closed(
  {
    id: Type.String({ description: 'The id of the triage.' }),
    action: OneOf(TRIAGE_ACTIONS, { description: 'What was done.' }),
    source: OneOf(TRIAGE_SOURCES, {
      description: '`shiplock` for a person, or the format of the VEX document that states the triage.',
    }),
    target_type: OneOf(['finding', 'issue', 'alert'], { description: 'What `target_ids` are the ids of.' }),
    target_ids: Type.Array(Type.String(), { description: 'What was triaged, as the request named it.' }),
    target_titles: Type.Array(Nullable(Type.String()), {
      description: 'The titles of the first five, in the order of `target_ids`. Null for what is gone.',
    }),
    scope: OneOf(TRIAGE_SCOPES, {
      description:
        'What a dismissal reaches later: what repeats a dismissed finding at its place, or the vulnerability in the package ' +
        'at any place and in any version.',
    }),
    finding_count: Type.Integer({
      description:
        'The number of findings that the triage affects, including those that joined a dismissed issue later. Findings ' +
        'of alerts that were dismissed or reopened on their code host are not counted.',
    }),
    alert_count: Type.Integer({
      description: 'The number of alerts that the triage dismissed or reopened on their code host.',
    }),
    reason: text('The reason for the dismissal. Null for other actions.'),
    comment: text('The comment.'),
    expires_at: Nullable(Timestamp, { description: 'When the dismissal ends by itself. Null if it does not.' }),
    created_at: time('When it was triaged.'),
    created_by_id: text('The id of the person who triaged. Null for a VEX document.'),
    created_by_name: text(
      'The name of the person who triaged, or of the sender of the VEX document and who confirmed it. `VEX document` if no name is known.',
    ),
    status: OneOf(STATUSES, {
      description:
        '`active` while it applies. `undone` by a person, `expired` at `expires_at`, or `replaced` by a newer VEX document.',
    }),
    ended_at: Nullable(Timestamp, { description: 'When it was undone, expired or was replaced.' }),
    ended_by_name: text('The name of the person who undid it.'),
  },
  { description: 'A dismissal, a reopening, a split or a merge, by a person or a VEX document.' },
)

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

import { type Static, Type } from 'typebox'
import { PROVIDERS } from '../../codehosts/catalogue.ts'
import { definePageQuery } from '../../platform/http/lists.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { REPORT_FORMATS } from '../formats/catalogue.ts'
import { repositoryFilters } from '../repositories/repository.schema.ts'
import { SHOWN_LANES, SHOWN_LANES_TEXT } from '../vocabulary/finding.ts'

export const STREAM_STATUSES = ['active', 'stale', 'ended'] as const

const REASON_MAX = 1000
const id = (description: string) => Type.String({ pattern: '^[1-9][0-9]{0,14}$', description })
const text = (description: string) => Nullable(Type.String(), { description })

export const StreamQuery = definePageQuery(100, 50, {
  ...repositoryFilters,
  status: Type.Optional(OneOf(STREAM_STATUSES, { description: 'Return only streams with this status.' })),
})
export type StreamQuery = Static<typeof StreamQuery>

export const StreamPath = Closed({ id: id('The id of the stream.') })

export const EndStream = Closed({
  reason: Type.String({
    minLength: 1,
    maxLength: REASON_MAX,
    pattern: '^[^\\u0000]*$',
    description: 'Why nobody will report to the stream any more. It is shown with the stream, and in the audit log.',
  }),
})

export const TakeOverStream = Closed({
  from: id(
    'The id of the stream that ends: of the same repository, tool, format, subject, category and ref, and not stronger.',
  ),
})

const Other = Closed({
  id: Type.String({ description: 'The id of the other stream.' }),
  trust: OneOf(SHOWN_LANES, { description: 'Who reports to it.' }),
  open: Type.Integer({ minimum: 0, description: 'The number of its open findings.' }),
})

export const FindingStream = Closed(
  {
    id: Type.String({ description: 'The id of the stream.' }),
    repository: Type.String({ description: 'The repository as `owner/name`.' }),
    provider: Nullable(OneOf(PROVIDERS, { description: 'The code host of the repository. Null if it is not known.' })),
    repository_id: text('The id of the repository on the code host. Null if it is not known.'),
    tool: Type.String({ description: 'The scanner, as its newest report names it.' }),
    format: OneOf(REPORT_FORMATS, { description: 'The format of its reports.' }),
    subject: text(
      'The image that its reports are about, without version and digest, or the project that they name. Null if they name none.',
    ),
    category: text('The category of its reports.'),
    git_ref: text('The branch or tag that its reports are about.'),
    trust: OneOf(SHOWN_LANES, {
      description: `Who reports to it: ${SHOWN_LANES_TEXT}`,
    }),
    tracked: Type.Boolean({ description: 'Whether its findings can open issues.' }),
    status: OneOf(STREAM_STATUSES, {
      description:
        '`active`, `stale` if it has had no report for 30 days while others of its ref had, or if its category differs from newer ones only in numbers, dates or hashes, or `ended`. A stale stream counts until it is ended.',
    }),
    open: Type.Integer({ minimum: 0, description: 'The number of its open findings.' }),
    commit_sha: text('The commit of its newest report.'),
    reported_at: { ...Timestamp, description: 'When its newest report was sent.' },
    can_take_over: Type.Array(Other, {
      description:
        'Other streams of the same repository, tool, format, subject, category and ref, which it can take over.',
    }),
    ended: Nullable(
      Closed({
        at: { ...Timestamp, description: 'When it was ended.' },
        reason: Type.String({ description: 'Why it was ended.' }),
        by_name: Type.String({ description: 'Who ended it.' }),
      }),
      { description: 'How it ended. Null unless `status` is `ended`. Its next report starts it again.' },
    ),
  },
  {
    $id: 'FindingStream',
    description:
      'The findings that one report replaces: of one repository, tool, format, subject, category, ref and sender.',
  },
)

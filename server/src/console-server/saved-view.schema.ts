import { Type } from 'typebox'
import { OrganizationSlug } from '../access/gateway/open-to-people.ts'
import { Closed, OneOf, Timestamp } from '../platform/http/schemas.ts'
import { UUID_PATTERN } from '../platform/ids.ts'

const SAVED_VIEW_LISTS = ['issues', 'findings'] as const

/** Saved views that a person can have in an organization. */
export const SAVED_VIEWS_MAX = 100

const list = OneOf(SAVED_VIEW_LISTS, { description: 'The list that the view shows.' })

const search = Type.Record(
  Type.String({ pattern: '^[a-z_]{1,50}$' }),
  Type.String({ minLength: 1, maxLength: 300, pattern: '^[^\\u0000]*$' }),
  {
    maxProperties: 20,
    description: "The filters and the order of the view, as parameters of the page's address.",
  },
)

export const NewSavedView = Closed({
  list,
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: '^(?!\\s)[^\\u0000-\\u001f]+(?<!\\s)$',
    description: 'The name of the view, unique among your views of the list. Upper and lower case are the same.',
  }),
  search,
})

export const SavedView = Closed({
  id: Type.String({ description: 'The id of the view.' }),
  list,
  name: Type.String({ description: 'The name of the view.' }),
  search,
  created_at: { ...Timestamp, description: 'When the view was saved.' },
})

export const SavedViewPath = Closed({
  org: OrganizationSlug,
  id: Type.String({ pattern: UUID_PATTERN, description: 'The id of the view.' }),
})

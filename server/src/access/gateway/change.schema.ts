import { QueryReason, Reason } from '../../audit/author.schema.ts'
import { Closed, ItemId } from '../../platform/http/schemas.ts'
import { OrganizationSlug } from './open-to-people.ts'

/** The path of a route of one object. */
export const ItemPath = Closed({ org: OrganizationSlug, id: { ...ItemId, description: 'The id of the object.' } })

/** The body of a change that needs nothing but its object. */
export const WithReason = Closed({ reason: Reason })

/** The query of a DELETE. */
export const DeletionQuery = Closed({ reason: QueryReason })

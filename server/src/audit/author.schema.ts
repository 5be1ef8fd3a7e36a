import { Type } from 'typebox'
import { Closed, Nullable, OneOf } from '../platform/http/schemas.ts'

const ReasonText = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'Why the change is made. Stored in the audit log.',
})

/** Why a change is made, as a field of its body. It is stored with the change. */
export const Reason = Type.Optional(Nullable(ReasonText))

/** The same as a query parameter, for a DELETE. */
export const QueryReason = Type.Optional(ReasonText)

/** Why a change was made, as a field of a response. */
export const GivenReason = Nullable(Type.String({ description: 'The reason for the change, if one was given.' }))

/** Who made a change. */
export const ChangedBy = Nullable(
  Closed(
    {
      type: OneOf(['api_key', 'user', 'policy', 'system', 'command_line'], { description: 'The kind of principal.' }),
      id: Nullable(Type.String({ description: 'The id of the user or API key. Null for other principals.' })),
      name: Type.String({ description: 'The name of the principal at the time of the change.' }),
    },
    { description: 'Who made the change. Null if that is not known.' },
  ),
)

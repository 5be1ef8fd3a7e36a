import { Type } from 'typebox'
import { countFilter, definePageQuery, windowFilters } from '../platform/http/lists.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../platform/http/schemas.ts'
import { EXPORT_FORMATS } from './export-audit-log.ts'

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

const PRINCIPAL_TYPES = ['user', 'api_key', 'policy', 'system', 'command_line'] as const

const PrincipalType = {
  description:
    'The type of the principal: `user` for a person, `api_key`, `policy`, `system` for Shiplock itself, or `command_line` for an administrator at a terminal.',
}

function exact(maxLength: number, description: string) {
  return Type.Optional(Type.String({ minLength: 1, maxLength, description }))
}

const filters = {
  principal_type: Type.Optional(
    OneOf(PRINCIPAL_TYPES, { description: 'Return only entries of principals of this type.' }),
  ),
  principal_id: exact(200, 'Return only entries of the principal with this id: a user, an API key or an evaluation.'),
  action: exact(100, 'Return only entries with this action, such as `deployment.approve`.'),
  object_type: exact(100, 'Return only entries about objects of this type, such as `deployment`.'),
  object_id: exact(200, 'Return only entries about the object with this id.'),
  ...windowFilters,
}

export const AuditLogQuery = definePageQuery(200, 50, { ...filters, ...countFilter })

export const AuditExportQuery = Closed({
  format: Type.Optional(
    OneOf(EXPORT_FORMATS, {
      default: 'ndjson',
      description: '`ndjson`: one JSON object a line, as in the list. `csv`: RFC 4180, with a header.',
    }),
  ),
  ...filters,
})

export const AuditLogEntry = Closed(
  {
    id: Type.String({ description: 'The id of the entry.' }),
    at: { ...Timestamp, description: 'When the change was made.' },
    principal: Closed(
      {
        type: OneOf(PRINCIPAL_TYPES, PrincipalType),
        id: Nullable(Type.String({ description: 'The id of the principal. Null for `system` and `command_line`.' })),
        name: Type.String({ description: 'The name of the principal at that time.' }),
      },
      { description: 'Who made the change.' },
    ),
    action: Type.String({ description: 'What was done, as `object.verb`, such as `deployment.approve`.' }),
    object: Closed(
      {
        type: Type.String({ description: 'The type of the object, such as `deployment`.' }),
        id: Type.String({ description: 'The id of the object.' }),
      },
      { description: 'What was changed.' },
    ),
    reason: Nullable(Type.String({ description: 'The reason that the principal gave.' })),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Values that depend on the action. They contain no secrets.',
    }),
  },
  { description: 'A change, who made it and why. Entries are never changed or deleted.' },
)

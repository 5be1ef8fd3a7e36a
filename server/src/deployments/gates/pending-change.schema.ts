import { type Static, Type } from 'typebox'
import { ChangedBy, GivenReason } from '../../audit/audit.schema.ts'
import { definePageQuery } from '../../platform/http/lists.ts'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { GateSettings } from './configured-gate.schema.ts'

const PolicyContent = Closed({ file: Type.String({ description: 'The text of the policy file.' }) })

export const PendingChangeQuery = definePageQuery(100, 20, {})

export const PendingChange = Closed(
  {
    id: Type.String({ description: 'The id of the change.' }),
    kind: OneOf(['gate', 'policy'], { description: 'What is changed.' }),
    action: OneOf(['create', 'change', 'delete'], { description: 'What is done to it.' }),
    object_id: Nullable(Type.String({ description: 'The id of the gate or policy. Null for a new one.' })),
    name: Type.String({ description: 'The name of the gate or policy.' }),
    content: Nullable(Type.Union([GateSettings, PolicyContent]), {
      description: 'The settings of the gate, or the file of the policy, once it is confirmed. Null for a deletion.',
    }),
    before: Type.Optional(
      Nullable(Type.Union([GateSettings, PolicyContent]), {
        description:
          'The settings of the gate as they are, or the file of the policy on which the change is based. Null for a new one. Only in the list.',
      }),
    ),
    base_version: Type.Integer({
      description:
        'The version that the change is based on, 0 for a new one. It cannot be confirmed after another change.',
    }),
    proposed_by: ChangedBy,
    reason: GivenReason,
    created_at: Type.Unsafe<Date>({ ...Timestamp, description: 'When the change was proposed.' }),
  },
  { $id: 'PendingChange', description: 'A change of a gate or policy that waits for a second person.' },
)
export type PendingChange = Static<typeof PendingChange>

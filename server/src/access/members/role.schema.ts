import { Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { OrganizationSlug } from '../gateway/open-to-people.ts'
import { PERMISSION_TITLES, PERMISSIONS } from '../roles/permission.ts'

const MEANINGS = PERMISSIONS.map((permission) => `\`${permission}\`: ${PERMISSION_TITLES[permission]}`).join('. ')

const name = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'The name of the role, which is unique in the organization.',
})
const permissions = Type.Array(OneOf(PERMISSIONS), {
  minItems: 1,
  maxItems: PERMISSIONS.length,
  description: `What members with the role can do. ${MEANINGS}.`,
})

export const Role = Closed(
  {
    id: Type.String({ description: 'The id of the role: a name for built-in roles, otherwise a UUID.' }),
    name,
    built_in: Type.Boolean({ description: 'True if every organization has the role. It cannot be changed.' }),
    permissions,
    members: Type.Integer({ description: 'The number of members with the role.' }),
    created_at: Nullable(Timestamp, { description: 'When the role was created. Null for a built-in role.' }),
    updated_at: Nullable(Timestamp, { description: 'When the role was last changed. Null for a built-in role.' }),
  },
  { description: 'A role, which gives permissions to members.' },
)

export const RolePath = Closed({
  org: OrganizationSlug,
  id: Type.String({ minLength: 1, maxLength: 50, description: 'The id of the role.' }),
})

export const NewRole = Closed({ name, permissions })

export const RoleChange = Type.Object(
  { name: Type.Optional(name), permissions: Type.Optional(permissions) },
  { additionalProperties: false, minProperties: 1 },
)

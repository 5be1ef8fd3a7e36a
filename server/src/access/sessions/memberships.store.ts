import type { Db } from '../../platform/db/sql.ts'
import type { BuiltInRoleId } from '../roles/built-in-role.ts'
import type { Permission } from '../roles/permission.ts'

/** An organization of a user, with the user's role there. */
export type OwnOrganization = {
  id: string
  slug: string
  name: string
  is_demo: boolean
  built_in_role: BuiltInRoleId | null
  custom_role: { id: string; name: string; permissions: Permission[] } | null
}

/** The number of organizations of one user that are listed, and whose audit logs are written. */
const ORGANIZATIONS_MAX = 100

/** The organizations that a user can open, by name. */
export async function listOwnOrganizations(db: Db, userId: string): Promise<OwnOrganization[]> {
  return db<OwnOrganization[]>`
    select org.id, org.slug, org.name, org.is_demo, member.built_in_role,
      case when role.id is not null then
        json_build_object('id', role.id, 'name', role.name, 'permissions', role.permissions)
      end as custom_role
    from members member
    join organizations org on org.id = member.org_id
    left join custom_roles role on role.org_id = member.org_id and role.id = member.custom_role_id
    where member.user_id = ${userId}
      and member.disabled_at is null
    order by org.name, org.id
    limit ${ORGANIZATIONS_MAX}`
}

export async function findUserName(db: Db, userId: string): Promise<string | null> {
  const [row] = await db<[{ name: string }?]>`select name from users where id = ${userId}`
  return row?.name ?? null
}

import type { Organization } from '../../organizations/organization.store.ts'
import { type Db, getSqlState, type Sql, type Tx, UNIQUE_VIOLATION } from '../../platform/db/sql.ts'
import { BUILT_IN_ROLE_IDS, BUILT_IN_ROLES, type BuiltInRoleId, type Permission, type StoredRole } from '../role.ts'

/** Locks the members, roles and invitations of an organization until the transaction ends. */
export async function lockOrganization(tx: Tx, orgId: string): Promise<void> {
  await tx`
    select
    from organizations
    where id = ${orgId}
    for no key update`
}

/** A member with the permissions of their role. The account may be disabled, too. */
export type Member = {
  user_id: string
  email: string
  name: string
  built_in_role: BuiltInRoleId | null
  custom_role_id: string | null
  permissions: readonly Permission[]
  /** Neither the membership nor the account is disabled. */
  is_active: boolean
}

type MemberRow = Member & { custom_permissions: Permission[] | null }

export async function findMember(db: Db, orgId: string, userId: string): Promise<Member | null> {
  const [row] = await db<MemberRow[]>`
    select member.user_id, person.email, person.name, member.built_in_role, member.custom_role_id,
      role.permissions as custom_permissions,
      member.disabled_at is null and person.disabled_at is null as is_active
    from members member
    join users person on person.id = member.user_id
    left join custom_roles role on role.org_id = member.org_id and role.id = member.custom_role_id
    where member.org_id = ${orgId}
      and member.user_id = ${userId}`
  if (row === undefined) return null
  const { custom_permissions, ...member } = row
  const { built_in_role } = member
  return {
    ...member,
    permissions: built_in_role ? BUILT_IN_ROLES[built_in_role].permissions : (custom_permissions ?? []),
  }
}

/** When a user became a member of an organization. Null if they are none. */
export async function findMemberSince(db: Db, orgId: string, userId: string): Promise<Date | null> {
  const [row] = await db<{ created_at: Date }[]>`
    select created_at
    from members
    where org_id = ${orgId}
      and user_id = ${userId}`
  return row?.created_at ?? null
}

type NewMember = StoredRole & { user_id: string; created_at: Date }

/** Stores a member. Returns false if the user is one already, disabled or not. */
export async function insertMember(tx: Tx, orgId: string, member: NewMember): Promise<boolean> {
  const rows = await tx`
    insert into members (org_id, user_id, built_in_role, custom_role_id, created_at)
    values (${orgId}, ${member.user_id}, ${member.built_in_role}, ${member.custom_role_id}, ${member.created_at})
    on conflict (org_id, user_id) do nothing
    returning user_id`
  return rows.length > 0
}

export async function updateMemberRole(tx: Tx, orgId: string, userId: string, role: StoredRole): Promise<void> {
  await tx`
    update members
    set built_in_role = ${role.built_in_role}, custom_role_id = ${role.custom_role_id}
    where org_id = ${orgId}
      and user_id = ${userId}`
}

export async function updateMemberDisabled(
  tx: Tx,
  orgId: string,
  userId: string,
  disabledAt: Date | null,
): Promise<void> {
  await tx`
    update members
    set disabled_at = ${disabledAt}
    where org_id = ${orgId}
      and user_id = ${userId}`
}

export async function deleteMember(tx: Tx, orgId: string, userId: string): Promise<void> {
  await tx`
    delete from members
    where org_id = ${orgId}
      and user_id = ${userId}`
}

/** Whether an organization has an Org admin who can sign in. */
export async function hasActiveAdmin(db: Db, orgId: string): Promise<boolean> {
  const [row] = await db<[{ found: boolean }]>`
    select exists (
      select
      from members member
      join users person on person.id = member.user_id
      where member.org_id = ${orgId}
        and member.built_in_role = 'org_admin'
        and member.disabled_at is null
        and person.disabled_at is null
    ) as found`
  return row.found
}

/** The number of people of an organization who can sign in and have the permission. */
export async function countPeopleWith(db: Db, orgId: string, permission: Permission): Promise<number> {
  const roles = BUILT_IN_ROLE_IDS.filter((id) => BUILT_IN_ROLES[id].permissions.includes(permission))
  const [row] = await db<[{ count: number }]>`
    select count(*)::int as count
    from members member
    join users person on person.id = member.user_id
    left join custom_roles role on role.org_id = member.org_id and role.id = member.custom_role_id
    where member.org_id = ${orgId}
      and member.disabled_at is null
      and person.disabled_at is null
      and (member.built_in_role = any(${roles}::text[]) or role.permissions @> array[${permission}]::text[])`
  return row.count
}

/** The organizations of a user, in the order in which they are locked. */
export async function listOrganizationIds(db: Db, userId: string): Promise<string[]> {
  const rows = await db<{ org_id: string }[]>`
    select org_id
    from members
    where user_id = ${userId}
    order by org_id`
  return rows.map(({ org_id }) => org_id)
}

/**
 * The oldest organization if no organization has an Org admin who can sign in; otherwise null.
 */
export async function findOrganizationWithoutAdmins(sql: Sql): Promise<Organization | null> {
  const [row] = await sql<Organization[]>`
    select id, slug, name, plan
    from organizations
    where not exists (
      select
      from members member
      join users person on person.id = member.user_id
      where member.built_in_role = 'org_admin'
        and member.disabled_at is null
        and person.disabled_at is null
    )
    order by created_at, id
    limit 1`
  return row ?? null
}

/** The real people who are active Org admins of any organization. */
export async function listActiveAdmins(db: Db): Promise<string[]> {
  const rows = await db<{ user_id: string }[]>`
    select distinct member.user_id
    from members member
    join users person on person.id = member.user_id
    where member.built_in_role = 'org_admin'
      and member.disabled_at is null
      and person.disabled_at is null
      and person.example_of is null
    order by member.user_id`
  return rows.map(({ user_id }) => user_id)
}

/** Who a member is at a code host. */
type ProviderAccount = { provider: string; login: string }

/** The accounts of a member at code hosts, by provider. */
export async function findProviderAccounts(db: Db, orgId: string, userId: string): Promise<ProviderAccount[]> {
  return db<ProviderAccount[]>`
    select provider, login
    from member_accounts
    where org_id = ${orgId}
      and user_id = ${userId}
    order by provider`
}

type StoredAccount = ProviderAccount & { user_id: string }

/** Sets the login of a member. Returns false if another member has it. */
export async function upsertProviderAccount(tx: Tx, orgId: string, account: StoredAccount, at: Date): Promise<boolean> {
  const { user_id, provider, login } = account
  try {
    await tx.savepoint(
      (savepoint) => savepoint`
        insert into member_accounts (org_id, user_id, provider, login, created_at)
        values (${orgId}, ${user_id}, ${provider}, ${login}, ${at})
        on conflict (org_id, user_id, provider) do update
        set login = excluded.login, created_at = excluded.created_at`,
    )
    return true
  } catch (error) {
    if (getSqlState(error) === UNIQUE_VIOLATION) return false
    throw error
  }
}

/** Returns the removed login, or null if there was none. */
export async function deleteProviderAccount(tx: Tx, orgId: string, userId: string, provider: string) {
  const [row] = await tx<{ login: string }[]>`
    delete from member_accounts
    where org_id = ${orgId}
      and user_id = ${userId}
      and provider = ${provider}
    returning login`
  return row?.login ?? null
}

import type { Db, Tx } from '../platform/db/sql.ts'
import type { BuiltInRoleId, Permission } from './role.ts'

export type User = { id: string; email: string; name: string; created_at: Date; disabled_at: Date | null }

/** `private_to`: the only organization that knows it, because its identity provider made it. */
type NewUser = Omit<User, 'disabled_at'> & { private_to?: string | null }

/**
 * Stores a new user, or returns null if an account has the email address: of the server, or among
 * those that are private to the same organization.
 */
export async function insertUser(db: Db, user: NewUser): Promise<User | null> {
  const [row] = await db<User[]>`
    insert into users (id, email, name, created_at, private_to)
    values (${user.id}, ${user.email}, ${user.name}, ${user.created_at}, ${user.private_to ?? null})
    on conflict do nothing
    returning id, email, name, created_at, disabled_at`
  return row ?? null
}

/** An account of the server: it belongs to no organization. */
export async function findUserByEmail(db: Db, email: string): Promise<User | null> {
  const [row] = await db<User[]>`
    select id, email, name, created_at, disabled_at
    from users
    where email = ${email}
      and private_to is null`
  return row ?? null
}

/** Every account with the address, also those that are private to organizations. */
export async function listUsersByEmail(db: Db, email: string): Promise<User[]> {
  return db<User[]>`
    select id, email, name, created_at, disabled_at
    from users
    where email = ${email}
    order by private_to is not null, id
    limit ${LISTED_MAX}`
}

/** An account that an organization knows. */
export type KnownUser = User & { is_private: boolean; is_member: boolean }

/**
 * The account with the address that an organization knows: one that is private to it, or a member.
 * Accounts of others are not looked at, so that nobody learns of them.
 */
export async function findUserOfOrganization(db: Db, orgId: string, email: string): Promise<KnownUser | null> {
  const [row] = await db<KnownUser[]>`
    select person.id, person.email, person.name, person.created_at, person.disabled_at,
      person.private_to is not null as is_private, member.user_id is not null as is_member
    from users person
    left join members member on member.org_id = ${orgId} and member.user_id = person.id
    where person.email = ${email}
      and (person.private_to = ${orgId} or person.private_to is null and member.user_id is not null)
    order by member.user_id is not null desc, person.private_to is not null desc
    limit 1`
  return row ?? null
}

export async function findUser(db: Db, id: string): Promise<User | null> {
  const [row] = await db<User[]>`
    select id, email, name, created_at, disabled_at
    from users
    where id = ${id}`
  return row ?? null
}

/**
 * An account, or only what it does in sessions that the identity provider of an organization has
 * started (`org_id`): these reach neither other organizations nor the account itself.
 */
export type AccountScope = { user_id: string; org_id?: string | null }

/**
 * Whether another account with the same address is a member: of two accounts of one person, each
 * would count as somebody else. The organization is locked.
 */
export async function isOtherMember(
  tx: Tx,
  orgId: string,
  { id, email }: Pick<User, 'id' | 'email'>,
): Promise<boolean> {
  const known = await findUserOfOrganization(tx, orgId, email)
  return known?.is_member === true && known.id !== id
}

const LISTED_MAX = 10_000

/** A user and the organizations that they belong to, as the command line lists them. */
export type ListedUser = User & {
  memberships: { organization: string; role: string; disabled: boolean }[]
}

/** The users of an organization, or all, by email address. */
export async function listUsers(db: Db, orgId: string | null): Promise<ListedUser[]> {
  return db<ListedUser[]>`
    select person.id, person.email, person.name, person.created_at, person.disabled_at,
      coalesce(
        json_agg(
          json_build_object(
            'organization', org.slug,
            'role', coalesce(member.built_in_role, role.name),
            'disabled', member.disabled_at is not null
          )
          order by org.slug
        ) filter (where org.id is not null),
        '[]'
      ) as memberships
    from users person
    left join members member on member.user_id = person.id ${orgId === null ? db`` : db`and member.org_id = ${orgId}`}
    left join organizations org on org.id = member.org_id
    left join custom_roles role on role.org_id = member.org_id and role.id = member.custom_role_id
    ${orgId === null ? db`` : db`where member.org_id is not null`}
    group by person.id
    order by person.email
    limit ${LISTED_MAX}`
}

/** Disables or enables an account in all organizations. */
export async function updateUserDisabled(tx: Tx, id: string, disabledAt: Date | null): Promise<void> {
  await tx`
    update users
    set disabled_at = ${disabledAt}
    where id = ${id}`
}

/** Marks a user as a fictional person, who exists only in an organization with example data. */
export async function updateUserAsExample(tx: Tx, id: string, orgId: string): Promise<void> {
  await tx`
    update users
    set example_of = ${orgId}
    where id = ${id}`
}

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

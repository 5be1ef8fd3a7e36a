import { buildPageCondition } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Page, PageRow } from '../../platform/http/lists.ts'
import { BUILT_IN_ROLES, isBuiltIn } from '../role.ts'

type MemberFilters = {
  search?: string | undefined
  role?: string | undefined
  status?: 'active' | 'disabled' | undefined
}

/** A page of the members, newest first. */
export async function listMembers(db: Db, orgId: string, page: Page, filters: MemberFilters): Promise<PageRow[]> {
  return db<PageRow[]>`
    select ${memberJson(db)} as json, member.created_at, member.user_id as id
    from (
      select org_id, user_id, user_id as id, built_in_role, custom_role_id, created_at, disabled_at
      from members
    ) member
    join users person on person.id = member.user_id
    left join custom_roles role on role.org_id = member.org_id and role.id = member.custom_role_id
    where member.org_id = ${orgId}
      and ${buildPageCondition(db, page, db`member`)}
      ${buildFilter(db, filters)}
    order by member.created_at desc, member.id desc
    limit ${page.limit + 1}`
}

function buildFilter(db: Db, { search, role, status }: MemberFilters) {
  const text = search && `%${search.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
  const column = role !== undefined && isBuiltIn(role) ? db`member.built_in_role` : db`member.custom_role_id::text`
  const isActive = db`(member.disabled_at is null and person.disabled_at is null)`
  return db`
    ${text ? db`and (person.email like ${text} or lower(person.name) like ${text})` : db``}
    ${role === undefined ? db`` : db`and ${column} = ${role}`}
    ${status === undefined ? db`` : db`and ${isActive} = ${status === 'active'}`}`
}

/** A member as the API shows it, as JSON text. */
export async function findMemberJson(db: Db, orgId: string, userId: string): Promise<string | null> {
  const [row] = await db<{ json: string }[]>`
    select ${memberJson(db)} as json
    from members member
    join users person on person.id = member.user_id
    left join custom_roles role on role.org_id = member.org_id and role.id = member.custom_role_id
    where member.org_id = ${orgId}
      and member.user_id = ${userId}`
  return row?.json ?? null
}

function memberJson(db: Db) {
  const names = Object.fromEntries(Object.entries(BUILT_IN_ROLES).map(([id, { name }]) => [id, name]))
  return db`
    json_build_object(
      'user_id', member.user_id,
      'email', person.email,
      'name', person.name,
      'role', coalesce(member.built_in_role, member.custom_role_id::text),
      'role_name', coalesce(${JSON.stringify(names)}::text::json ->> member.built_in_role, role.name),
      'status',
        case when member.disabled_at is null and person.disabled_at is null then 'active' else 'disabled' end,
      'disabled_at', rfc3339(coalesce(member.disabled_at, person.disabled_at)),
      'joined_at', rfc3339(member.created_at),
      'provider_accounts', (
        select coalesce(
          json_agg(json_build_object('provider', account.provider, 'login', account.login) order by account.provider),
          '[]'
        )
        from member_accounts account
        where account.org_id = member.org_id
          and account.user_id = member.user_id
      )
    )::text`
}

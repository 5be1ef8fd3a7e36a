import type { Sql } from '../sql.ts'

/** Roles that an administrator has added. They belong to the server, not to the database. */
export async function listOwnRoles(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select rolname as name
    from pg_roles
    where rolname !~ '^pg_'
      and rolname <> current_user
    limit 1000`
  return rows.map(({ name }) => name)
}

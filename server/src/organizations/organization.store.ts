import type { Db } from '../platform/db/sql.ts'

export type Organization = { id: string; slug: string; name: string; plan: string }

const ORGANIZATIONS_LISTED_MAX = 1000

/** Stores a new organization, or returns null when the slug is taken. */
export async function insertOrganization(db: Db, organization: Organization, createdAt: Date) {
  const { id, slug, name, plan } = organization
  const [row] = await db<Organization[]>`
    insert into organizations (id, slug, name, plan, created_at)
    values (${id}, ${slug}, ${name}, ${plan}, ${createdAt})
    on conflict (slug) do nothing
    returning id, slug, name, plan`
  return row ?? null
}

export async function findOrganization(db: Db, slug: string): Promise<Organization | null> {
  const [row] = await db<Organization[]>`
    select id, slug, name, plan
    from organizations
    where slug = ${slug}`
  return row ?? null
}

export async function findOrganizationById(db: Db, id: string): Promise<Organization | null> {
  const [row] = await db<Organization[]>`
    select id, slug, name, plan
    from organizations
    where id = ${id}`
  return row ?? null
}

export async function listOrganizations(db: Db): Promise<Organization[]> {
  return db<Organization[]>`
    select id, slug, name, plan
    from organizations
    order by slug
    limit ${ORGANIZATIONS_LISTED_MAX}`
}

/** Changes the plan and returns the organization, or null if no organization has this slug. */
export async function updatePlan(db: Db, slug: string, plan: string): Promise<Organization | null> {
  const [row] = await db<Organization[]>`
    update organizations
    set plan = ${plan}
    where slug = ${slug}
    returning id, slug, name, plan`
  return row ?? null
}

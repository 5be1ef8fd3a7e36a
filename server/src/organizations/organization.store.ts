import { lockName } from '../platform/db/advisory-lock.ts'
import type { Db, Tx } from '../platform/db/sql.ts'

/** What rules of an organization can admit that name no trust (trust §2). */
export const DEFAULT_TRUSTS = ['verified', 'uploaded'] as const
export type DefaultTrust = (typeof DEFAULT_TRUSTS)[number]

export type Organization = { id: string; slug: string; name: string; plan: string }

const ORGANIZATIONS_LISTED_MAX = 1000

/**
 * Waits for others that create an organization, or decide by whether there is another one, until
 * the transaction ends.
 */
export async function lockOrganizations(tx: Tx): Promise<void> {
  await lockName(tx, 'organizations')
}

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

/** Whether an organization contains example data. */
export async function isDemo(db: Db, id: string): Promise<boolean> {
  const [row] = await db<{ is_demo: boolean }[]>`
    select is_demo
    from organizations
    where id = ${id}`
  return row?.is_demo ?? false
}

/** Whether VEX documents of verified jobs take effect without being confirmed (decisions §7). */
export async function isRepositoryVexAccepted(db: Db, id: string): Promise<boolean> {
  const [row] = await db<{ accept_repository_vex: boolean }[]>`
    select accept_repository_vex
    from organizations
    where id = ${id}`
  return row?.accept_repository_vex ?? false
}

/** Whether dismissals at code hosts count, or wait for somebody here (trust §4). */
export const HOST_DISMISSALS = ['accept', 'propose'] as const
export type HostDismissals = (typeof HOST_DISMISSALS)[number]

export async function findHostDismissals(db: Db, id: string): Promise<HostDismissals> {
  const [row] = await db<[{ host_dismissals: HostDismissals }]>`
    select host_dismissals
    from organizations
    where id = ${id}`
  return row.host_dismissals
}

/** What the organization has said of its default trust. Null if nobody has said anything. */
export async function findDefaultTrust(db: Db, id: string): Promise<DefaultTrust | null> {
  const [row] = await db<[{ trust: DefaultTrust | null }]>`select ${buildDefaultTrust(db, id, null)} as trust`
  return row.trust
}

/**
 * SQL: the default trust of an organization. With `since`, that under which a deployment is asked:
 * `verified` if it was loosened later (trust §5).
 */
export function buildDefaultTrust(db: Db, id: string, since: Date | null): ReturnType<Db> {
  return db`(
    select case when default_trust_loosened_at > ${since}::timestamptz then 'verified' else default_trust end
    from organizations
    where id = ${id}
  )`
}

/** Stores the default trust, and if this loosens it, who did so and when. */
export async function updateDefaultTrust(
  tx: Tx,
  id: string,
  { trust, loosened }: { trust: DefaultTrust; loosened: { at: Date; by: string | null } | null },
): Promise<void> {
  await tx`
    update organizations
    set default_trust = ${trust}
      ${loosened ? tx`, default_trust_loosened_at = ${loosened.at}, default_trust_loosened_by = ${loosened.by}` : tx``}
    where id = ${id}`
}

/** Locks the row of an organization until the transaction ends, and returns its default trust. */
export async function lockDefaultTrust(tx: Tx, id: string): Promise<DefaultTrust | null> {
  const [row] = await tx<{ default_trust: DefaultTrust | null }[]>`
    select default_trust
    from organizations
    where id = ${id}
    for no key update`
  return row?.default_trust ?? null
}

/** The user who loosened the default trust since a time. Null if no user has. */
export async function findTrustLoosener(db: Db, id: string, since: Date): Promise<string | null> {
  const [row] = await db<{ loosened_by: string | null }[]>`
    select default_trust_loosened_by as loosened_by
    from organizations
    where id = ${id}
      and default_trust_loosened_at >= ${since}`
  return row?.loosened_by ?? null
}

/** Whether changes of gates and policies by people wait for a second person (trust §5). */
export async function isChangedByTwo(db: Db, id: string): Promise<boolean> {
  const [row] = await db<{ two_person_changes: boolean }[]>`
    select two_person_changes
    from organizations
    where id = ${id}`
  return row?.two_person_changes ?? false
}

/**
 * Whether components are matched with advisories (docs/inventory.md, "Matches"): a `preview` shows
 * findings, which count nowhere.
 */
export const INVENTORY_MATCHING = ['on', 'preview', 'off'] as const
export type InventoryMatching = (typeof INVENTORY_MATCHING)[number]

/** Keeps the setting as it is until the transaction ends. */
export async function lockInventoryMatching(tx: Tx, id: string): Promise<InventoryMatching> {
  const [row] = await tx<[{ inventory_matching: InventoryMatching }]>`
    select inventory_matching
    from organizations
    where id = ${id}
    for share`
  return row.inventory_matching
}

export async function findInventoryMatching(db: Db, id: string): Promise<InventoryMatching> {
  const [row] = await db<[{ inventory_matching: InventoryMatching }]>`
    select inventory_matching
    from organizations
    where id = ${id}`
  return row.inventory_matching
}

/** Waits for the transactions that keep the setting as it is. */
export async function updateInventoryMatching(tx: Tx, id: string, matching: InventoryMatching): Promise<void> {
  await tx`
    update organizations
    set inventory_matching = ${matching}
    where id = ${id}`
}

/** What an organization lets count. What is absent stays. */
export type OrganizationRules = {
  accept_repository_vex?: boolean
  two_person_changes?: boolean
  host_dismissals?: HostDismissals
}

/** Returns the organization, or null if no organization has this slug. */
export async function updateRules(db: Db, slug: string, rules: OrganizationRules): Promise<Organization | null> {
  const { accept_repository_vex = null, two_person_changes = null, host_dismissals = null } = rules
  const [row] = await db<Organization[]>`
    update organizations
    set accept_repository_vex = coalesce(${accept_repository_vex}, accept_repository_vex),
      two_person_changes = coalesce(${two_person_changes}, two_person_changes),
      host_dismissals = coalesce(${host_dismissals}, host_dismissals)
    where slug = ${slug}
    returning id, slug, name, plan`
  return row ?? null
}

export async function listOrganizations(db: Db): Promise<Organization[]> {
  return db<Organization[]>`
    select id, slug, name, plan
    from organizations
    order by slug
    limit ${ORGANIZATIONS_LISTED_MAX}`
}

/**
 * The first organization whose id is higher, in the order of ids. One that is being deleted is left
 * out.
 */
export async function findNextOrganization(db: Db, after: string | null): Promise<Organization | null> {
  const [row] = await db<Organization[]>`
    select id, slug, name, plan
    from organizations
    where deletion_started_at is null
      ${after === null ? db`` : db`and id > ${after}`}
    order by id
    limit 1`
  return row ?? null
}

export async function updateOrganizationName(db: Db, id: string, name: string): Promise<void> {
  await db`
    update organizations
    set name = ${name}
    where id = ${id}`
}

export async function isOnlyOrganization(db: Db, id: string): Promise<boolean> {
  const [row] = await db<[{ found: boolean }]>`
    select exists (select from organizations where id <> ${id}) as found`
  return !row.found
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

/** The organization of the example data, if there is one. */
export async function findDemoOrganization(db: Db): Promise<Organization | null> {
  const [row] = await db<Organization[]>`
    select id, slug, name, plan
    from organizations
    where is_demo`
  return row ?? null
}

export async function updateOrganizationAsDemo(db: Db, id: string): Promise<void> {
  await db`
    update organizations
    set is_demo = true
    where id = ${id}`
}

/** What a plan may limit per month. */
type Metric = 'ci_runs' | 'artifact_bytes'

type Use = { metric: Metric; amount: number; month: Date; max: number }

/**
 * Adds a use in the transaction that causes it. Returns false, and adds nothing, if it would exceed
 * the month's limit. All writers of the organization wait for this row, so do not call it for a
 * plan without a limit.
 */
export async function upsertMonthlyUse(tx: Tx, orgId: string, { metric, amount, month, max }: Use): Promise<boolean> {
  if (amount > max) return false
  const rows = await tx`
    insert into monthly_usage as usage (org_id, month, metric, used)
    values (${orgId}, ${month}, ${metric}, ${amount})
    on conflict (org_id, month, metric) do update
    set used = usage.used + excluded.used
    where usage.used + excluded.used <= ${max}
    returning used`
  return rows.length === 1
}

/** What the organization has used in a month of a limited metric; 0 if nothing was counted. */
export async function findMonthlyUse(db: Db, orgId: string, metric: Metric, month: Date): Promise<number> {
  const [row] = await db<{ used: number }[]>`
    select used
    from monthly_usage
    where org_id = ${orgId}
      and month = ${month}
      and metric = ${metric}`
  return Number(row?.used ?? 0)
}

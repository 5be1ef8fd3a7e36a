import type { Actor } from '../access/actor.ts'
import { COMMAND_LINE_AUTHOR } from '../access/members/author.ts'
import { createRole } from '../access/members/manage-roles.ts'
import { insertMember, listActiveAdmins, upsertProviderAccount } from '../access/members/member.store.ts'
import { BUILT_IN_ROLES, type Permission } from '../access/role.ts'
import { OPERATOR_GRANTOR, type Scope } from '../access/scopes.ts'
import { insertUser, updateUserAsExample } from '../access/user.store.ts'
import { COMMAND_LINE, insertAuditEntry } from '../audit/audit.store.ts'
import { insertConnection } from '../codehosts/connections/connection.store.ts'
import type { HostEvent, HostSource } from '../codehosts/host-event.ts'
import type { HostAccount } from '../codehosts/host-repository.ts'
import { type Organization, updateOrganizationAsDemo } from '../organizations/organization.store.ts'
import { createOrganization } from '../organizations/organization.ts'
import { getPlan } from '../organizations/plan.ts'
import { DAY_MS } from '../platform/clock.ts'
import type { Sql } from '../platform/db/sql.ts'
import { createUuid } from '../platform/ids.ts'
import { linkRepository } from '../repositories/link-repository.ts'
import { createDemoKey } from './settings.ts'
import { COLLEAGUES, type Colleague, DOMAIN, HOST, HOSTED, OWNER, REPORTED, toHostRepository } from './world/company.ts'
import type { Demo } from './world/demo.ts'

const SLUG = 'demo'
/** The account of the fictional code host. */
export const ACCOUNT = { id: '4810', login: OWNER, type: 'Organization' }

const NAME = 'Demo (example data)'
const AUDITOR: readonly Permission[] = ['view', 'read_audit_log']

type Furnishing = Pick<Demo, 'services' | 'clock' | 'now' | 'host' | 'random' | 'intake' | 'settle' | 'evaluateAll'>
type Bare = Furnishing & {
  apply(source: HostSource, events: readonly HostEvent[]): Promise<void>
}

/** Makes the organization, its people, keys, connection and repositories. */
export async function createDemoOrganization({ apply, ...bare }: Bare): Promise<Demo> {
  const { services, clock } = bare
  const organization = await createOrganization(services, { slug: SLUG, name: NAME, plan: 'enterprise' })
  await updateOrganizationAsDemo(services.sql, organization.id)
  const people = await addPeople(bare, organization)
  await enrollRealAdmins(services.sql, organization.id, bare.now)
  const source = await connect(bare, organization)
  const keys = new Map<string, Actor>()
  const lastUses = new Map<string, Date>()
  const accounts = new Map(COLLEAGUES.map((colleague, index) => [colleague.login, toHostAccount(colleague, index)]))
  for (const account of accounts.values()) bare.host.facts.accounts.set(account.login, account)
  const repositories = HOSTED.map(({ name }, index) => toHostRepository(name, index, clock.now()))
  const demo: Demo = {
    ...bare,
    organization,
    source,
    repositories: new Map(
      HOSTED.map(({ name }, index) => [name, repositories[index] as (typeof repositories)[number]]),
    ),
    person: (login) => known(people, login),
    account: (login) => known(accounts, login),
    key(name) {
      lastUses.set(name, clock.now())
      return known(keys, name)
    },
    lastUses,
    apply: (...events) => apply(source, events),
  }
  for (const [name, scopes] of KEYS) keys.set(name, await keyActor(demo, name, scopes))
  await demo.apply(
    ...repositories.map((repository) => ({
      kind: 'repository' as const,
      data: { repository, change: 'changed' as const },
    })),
  )
  for (const [index, { name }] of REPORTED.entries()) await link(demo, name, HOSTED.length + index)
  await demo.settle()
  return demo
}

const KEYS: readonly [string, readonly Scope[]][] = [
  ['ci-reports', ['write:ci', 'read:pipelines']],
  ['security-scans', ['write:security-findings', 'read:security']],
  ['release-bot', ['read:deployments', 'write:deployments']],
]

function known<Value>(of: ReadonlyMap<string, Value>, name: string): Value {
  const value = of.get(name)
  if (value === undefined) throw new Error(`The example data has no ${name}.`)
  return value
}

/** A repository without a connection, so that its runs and its security reports belong together. */
async function link({ services, organization }: Demo, name: string, number: number): Promise<void> {
  const { id, full_name } = toHostRepository(name, number, services.clock.now())
  await linkRepository(services, organization.id, { provider: 'github', id, name: full_name, host: HOST })
}

async function addPeople(bare: Furnishing, organization: Organization): Promise<Map<string, Actor>> {
  const { services, clock, now } = bare
  const author = { orgId: organization.id, author: COMMAND_LINE_AUTHOR }
  const auditor = await createRole(services, author, { name: 'Auditor', permissions: [...AUDITOR] })
  const people = new Map<string, Actor>()
  for (const colleague of COLLEAGUES) {
    const joined = new Date(now.getTime() - colleague.joined * DAY_MS)
    const user = {
      id: createUuid(joined),
      email: `${colleague.login}@${DOMAIN}`,
      name: colleague.name,
      created_at: joined,
    }
    const built_in_role = colleague.role === 'auditor' ? null : colleague.role
    const custom_role_id = built_in_role === null ? auditor.id : null
    await services.sql.begin(async (tx) => {
      if ((await insertUser(tx, user)) === null)
        throw new Error(`An account has the address ${user.email} of the example data.`)
      await updateUserAsExample(tx, user.id, organization.id)
      await insertMember(tx, organization.id, { user_id: user.id, built_in_role, custom_role_id, created_at: joined })
      await upsertProviderAccount(
        tx,
        organization.id,
        { user_id: user.id, provider: 'github', login: colleague.login },
        clock.now(),
      )
    })
    const permissions = built_in_role === null ? AUDITOR : BUILT_IN_ROLES[built_in_role].permissions
    people.set(colleague.login, {
      ...makeActorBase(bare, organization),
      credential: { type: 'user', id: user.id, name: user.name, email: user.email, permissions },
    })
  }
  return people
}

function makeActorBase(
  { services }: Pick<Furnishing, 'services'>,
  organization: Organization,
): Omit<Actor, 'credential'> {
  return { org_id: organization.id, organization, plan: getPlan(organization, services.plans) }
}

async function keyActor(demo: Demo, name: string, scopes: readonly Scope[]): Promise<Actor> {
  // Who creates the key of the CI system has opened all its deployments, and cannot approve them.
  const { id } = await createDemoKey(demo, name, scopes, name === 'ci-reports' ? OPERATOR_GRANTOR : undefined)
  return {
    ...makeActorBase(demo, demo.organization),
    credential: { type: 'api_key', id, name, scopes, repositories: null },
  }
}

async function connect({ services, clock }: Furnishing, { id: org_id }: Organization): Promise<HostSource> {
  const source: HostSource = { org_id, connection_id: createUuid(clock.now()), provider: 'github', host: HOST }
  const installation = { id: `demo-${org_id}`, account: ACCOUNT, repositories: 'all' as const, suspended: false }
  const { connection_id: id, provider, host } = source
  const connection = { org_id, id, provider, host, status: 'active' as const, installation, connected_at: clock.now() }
  await services.sql.begin((tx) => insertConnection(tx, connection))
  return source
}

function toHostAccount({ login, name }: Colleague, index: number): HostAccount {
  return { id: `${60_100 + index}`, login, name, avatar_url: null, url: `https://${HOST}/${login}`, is_bot: false }
}

/**
 * Makes the administrators of this server Org admins of the example data, so that they can open it.
 * Those who have a role there keep it.
 */
export async function enrollRealAdmins(sql: Sql, orgId: string, now: Date): Promise<void> {
  for (const user_id of await listActiveAdmins(sql)) {
    const member = { user_id, built_in_role: 'org_admin' as const, custom_role_id: null, created_at: now }
    await sql.begin(async (tx) => {
      if (!(await insertMember(tx, orgId, member))) return
      const entry = { principal: COMMAND_LINE, action: 'member.add', object: { type: 'member', id: user_id } }
      await insertAuditEntry(tx, orgId, { ...entry, reason: null, details: { role: 'org_admin' } }, now)
    })
  }
}

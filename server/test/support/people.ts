import type { BuiltInRoleId, Permission } from '../../src/access/role.ts'
import { insertSession } from '../../src/access/sign-in/session.store.ts'
import { createSessionToken, hashSessionToken } from '../../src/access/sign-in/session.ts'
import type { Tx } from '../../src/platform/db/sql.ts'
import { createUuid } from '../../src/platform/ids.ts'
import type { Answer, TestApi } from './api.ts'

const WAITS_MS_MAX = 10_000

/** A person who is signed in. `org` is the path of the organization in the application's API. */
export type Person = { userId: string; email: string; name: string; orgId: string; org: string; cookie: string }

type PersonOptions = {
  /** The organization, for example of a `Caller`. */
  orgId: string
  slug: string
  role?: BuiltInRoleId
  /** Gives the person a custom role in place of `role`. */
  permissions?: readonly Permission[]
  name?: string
}

/** Stores a user with a fresh session, without signing in. */
export async function createPerson(api: TestApi, options: PersonOptions): Promise<Person> {
  const { orgId, slug, role = 'org_admin', permissions, name = 'Ada Lovelace' } = options
  const { sql, clock } = api.services
  const now = clock.now()
  const [userId, roleId] = [createUuid(now), createUuid(now)]
  const email = `${userId}@example.com`
  await sql`insert into users (id, email, name, created_at) values (${userId}, ${email}, ${name}, ${now})`
  if (permissions)
    await sql`
      insert into custom_roles (org_id, id, name, permissions, created_at, updated_at)
      values (${orgId}, ${roleId}, ${roleId}, ${[...permissions]}, ${now}, ${now})`
  await sql`
    insert into members (org_id, user_id, built_in_role, custom_role_id, created_at)
    values (${orgId}, ${userId}, ${permissions ? null : role}, ${permissions ? roleId : null}, ${now})`
  return { userId, email, name, orgId, org: `/app/api/orgs/${slug}`, cookie: await signIn(api, userId) }
}

/** Starts a session of a user, and returns its cookie. */
export async function signIn({ services: { sql, clock } }: TestApi, userId: string): Promise<string> {
  const now = clock.now()
  const token = createSessionToken()
  const place = { address: '127.0.0.1', user_agent: 'test' }
  const session = { id: createUuid(now), user_id: userId, token_sha256: hashSessionToken(token), ...place }
  await insertSession(sql, { ...session, method: 'password' }, now)
  return `shiplock=${token}`
}

/** Headers of a request that a page of the console sends. */
export function pageHeaders({ url }: TestApi, cookie?: string): Record<string, string> {
  return { ...(cookie && { cookie }), origin: url, 'x-shiplock-csrf': '1' }
}

/** A request of a person. `path` is below the person's organization unless it starts with /app. */
export function requestAs(api: TestApi, person: Person, method: string, path: string, body?: unknown): Promise<Answer> {
  const target = path.startsWith('/app') ? path : person.org + path
  return api.request(method, target, { headers: pageHeaders(api, person.cookie), ...(body !== undefined && { body }) })
}

/** Makes a person the creator of an API key. */
export async function ownCredential({ services: { sql } }: TestApi, { orgId, userId }: Person, keyId: string) {
  await sql`
    update api_keys
    set created_by_user_id = ${userId}
    where org_id = ${orgId}
      and id = ${keyId}`
}

/**
 * Sends a request while a change of the members is not committed yet, and returns its response. A
 * request that does not wait for the change is answered before it.
 */
export async function duringMemberChange(
  { services: { sql } }: TestApi,
  change: (tx: Tx) => Promise<unknown>,
  send: () => Promise<Answer>,
): Promise<Answer> {
  let answer: Promise<Answer> | undefined
  await sql.begin(async (tx) => {
    await tx`select from organizations for no key update`
    await change(tx)
    let isAnswered = false
    answer = send().finally(() => {
      isAnswered = true
    })
    for (const until = performance.now() + WAITS_MS_MAX; !isAnswered && performance.now() < until; ) {
      const waiting = await sql`
        select from pg_stat_activity
        where datname = current_database()
          and wait_event_type = 'Lock'`
      if (waiting.length > 0) break
    }
  })
  return answer as Promise<Answer>
}

import assert from 'node:assert/strict'
import { insertPendingChange } from '../../src/deployments/gates/pending-change.store.ts'
import { createUuid } from '../../src/platform/ids.ts'
import type { TestApi } from './api.ts'
import type { Json } from './json.ts'
import type { Operation } from './openapi.ts'
import { type Person, requestAs } from './people.ts'

type Furnished = Record<string, string>

/** Bodies that create one of everything that people manage, by path. Earlier ids can be used. */
const BODIES: [path: string, body: (owned: Furnished) => unknown][] = [
  ['/invitations', () => ({ email: 'grace@example.com', role: 'viewer' })],
  ['/roles', () => ({ name: 'Auditor', permissions: ['view', 'read_audit_log'] })],
  ['/policies', () => ({ file: POLICY })],
  ['/environments', () => ({ environment: 'prod*', exposure: 'internet' })],
  ['/saved-views', () => ({ list: 'issues', name: 'Fix first', search: { status: 'open' } })],
  [
    '/security/triage',
    (owned) => ({ action: 'dismiss', reason: 'wont_fix', finding_ids: [owned['/v1/security/findings']] }),
  ],
]

const POLICY = 'name: Passing\nengine: cel\nrules: []\n'

/**
 * One of everything that people create in the application, by the path in front of its id below the
 * organization. The organization has been furnished before.
 */
export async function furnishPeople(api: TestApi, admin: Person, operations: Operation[], owned: Furnished) {
  const made: Furnished = {
    ...owned,
    '/members': admin.userId,
    '/members/{user_id}/provider-accounts': 'github',
  }
  for (const [path, bodyOf] of BODIES) {
    const isThere = operations.some((each) => each.method === 'POST' && each.path === `/app/api/orgs/{org}${path}`)
    if (!isThere || owned[path] !== undefined) continue
    const { status, body, text } = await requestAs(api, admin, 'POST', path, bodyOf(made))
    assert.ok(status < 300, `POST ${path}: ${text}`)
    made[path] = idIn(body.data)
  }
  made['/pending-changes'] = await insertChange(api, admin)
  return made
}

/** A change that waits for a second person, although the organization does not ask for one. */
async function insertChange({ services }: TestApi, { orgId, userId }: Person): Promise<string> {
  const now = services.clock.now()
  const change = {
    kind: 'gate',
    action: 'create',
    object_id: null,
    name: 'Waiting',
    base_version: 0,
    reason: null,
  } as const
  const stored = { ...change, content: { file: POLICY }, id: createUuid(now), created_at: now }
  await services.sql.begin((tx) => insertPendingChange(tx, orgId, { ...stored, author_id: userId, author_name: 'Ada' }))
  return stored.id
}

/** The id of a created object, which can be a part of the response. */
function idIn(data: Json): string {
  if (typeof data.id === 'string') return data.id
  const inner = Object.values<Json>(data).find((value) => typeof value?.id === 'string')
  return inner?.id ?? assert.fail(`No id in ${JSON.stringify(data)}`)
}

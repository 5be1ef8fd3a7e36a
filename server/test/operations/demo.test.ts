import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { organizationParts } from '../../src/commands/org-content.ts'
import { makeDemo } from '../../src/demo/make-demo.ts'
import { hostParts } from '../../src/host-event-handlers.ts'
import { jobs } from '../../src/jobs.ts'
import { deleteOrganization } from '../../src/organizations/delete-organization.ts'
import type { Sql } from '../../src/platform/db/sql.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { furnish } from '../support/furnish.ts'
import { createPerson, type Person } from '../support/people.ts'
import { listJobs } from '../support/queue.ts'

let api: TestApi
let owner: Caller
let admin: Person
let demoId: string
let before_: Map<string, string>

const background = { jobs, parts: hostParts }
const make = (progress = () => {}) => makeDemo(api.services, background, progress)

before(async () => {
  api = await startTestApi()
  owner = await api.caller()
  await furnish(api, owner)
  admin = await createPerson(api, { ...owner, name: 'Grace Hopper' })
  before_ = await readRows(api.services.sql, null)
})
after(() => api.close())

test('a run that is interrupted leaves no row', async () => {
  let steps = 0
  const interrupted = make(() => {
    steps += 1
    if (steps === 30) throw new Error('interrupted')
  })
  await assert.rejects(interrupted, /interrupted/)
  assert.deepEqual(await readRows(api.services.sql, null), before_)
})

test('two runs at the same time make one organization', async () => {
  const made = await Promise.all([make(), make()])
  assert.deepEqual(made.map(({ created }) => created).sort(), [false, true])
  assert.equal(made[0].id, made[1].id)
  demoId = made[0].id
  const { counts } = made[0]
  assert.ok((counts.runs ?? 0) > 700, JSON.stringify(counts))
  for (const [what, count] of Object.entries(counts)) assert.ok(count > 0, what)
})

test('it queues no job, and changes no row of another organization', async () => {
  const queued = await listJobs(api.services.sql)
  assert.deepEqual(
    queued.filter(({ payload }) => payload.org_id === demoId),
    [],
  )
  assert.deepEqual(await readRows(api.services.sql, demoId), before_)
})

test('the Org admins of the server open it, and see that it is an example', async () => {
  const headers = { cookie: admin.cookie }
  const { body: session } = await api.request('GET', '/app/api/session', { headers })
  const organization = session.data.organizations.find(({ slug }: { slug: string }) => slug === 'demo')
  assert.equal(organization.is_demo, true)
  assert.equal(organization.role.id, 'org_admin')
  const { body } = await api.request('GET', '/app/api/orgs/demo', { headers })
  assert.equal(body.data.is_demo, true)
  const own = await api.request('GET', `/app/api/orgs/${owner.slug}`, { headers })
  assert.equal(own.body.data.is_demo, false)
})

test('who becomes Org admin later is added by another run', async () => {
  const later = await createPerson(api, { ...owner, name: 'Mary Jackson' })
  assert.equal((await make()).created, false)
  const { body } = await api.request('GET', '/app/api/session', { headers: { cookie: later.cookie } })
  assert.ok(body.data.organizations.some(({ slug }: { slug: string }) => slug === 'demo'))
  await api.services.sql`delete from members where user_id = ${later.userId}`
  await api.services.sql`delete from user_sessions where user_id = ${later.userId}`
  await api.services.sql`delete from users where id = ${later.userId}`
})

test('its hash chains and the log are whole', async () => {
  const { sql } = api.services
  const [{ broken }] = await sql<[{ broken: number }]>`
    select count(*)::int as broken from chain_breaks where org_id = ${demoId}`
  assert.equal(broken, 0)
})

test('the audit log of an organization that is not being deleted cannot be deleted', async () => {
  const { sql } = api.services
  await assert.rejects(sql`delete from audit_entries where org_id = ${demoId}`, /append only/)
})

test('an interrupted removal can be repeated, and nothing else is removed', async () => {
  const remove = (progress: () => void) => deleteOrganization(api.services, { id: demoId }, organizationParts, progress)
  let batches = 0
  const interrupted = remove(() => {
    batches += 1
    if (batches === 20) throw new Error('interrupted')
  })
  await assert.rejects(interrupted, /interrupted/)
  await assert.rejects(api.services.sql`delete from audit_entries where org_id = ${owner.orgId}`, /append only/)
  const { rows, objects } = await remove(() => {})
  assert.ok(rows > 1000 && objects > 0, `${rows} ${objects}`)
  assert.deepEqual(await readRows(api.services.sql, null), before_)
})

/** Tables that other processes write, or that only grow. */
const EXCLUDED = ['log_entries', 'log_checkpoints', 'log_tiles', 'log_key']

/**
 * A digest of the rows of every table, without those of one organization and of the people who
 * exist only there.
 */
async function readRows(sql: Sql, without: string | null): Promise<Map<string, string>> {
  const tables = await sql<{ name: string; is_owned: boolean }[]>`
    select class.relname as name, exists (
      select from pg_attribute where attrelid = class.oid and attname = 'org_id' and not attisdropped
    ) as is_owned
    from pg_class class
    where class.relnamespace = 'public'::regnamespace
      and class.relkind = 'r'
      and class.relname <> all(${EXCLUDED})
    order by class.relname`
  const digests = new Map<string, string>()
  for (const { name, is_owned } of tables) {
    const column = is_owned ? 'org_id' : name === 'organizations' ? 'id' : name === 'users' ? 'example_of' : null
    const others = column && without ? sql`where ${sql(column)} is distinct from ${without}` : sql``
    const [{ digest }] = await sql<[{ digest: string }]>`
      select count(*) || ' ' || coalesce(md5(string_agg(item::text, ';' order by item::text)), '') as digest
      from ${sql(name)} item
      ${others}`
    digests.set(name, digest)
  }
  return digests
}

import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { listAllPolicies } from '../../src/compliance/policies/policy.store.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { apply } from '../support/policies.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

const policy = (expression: string, name = 'p') =>
  `name: ${name}\nmode: enforce\nrules: [{ rule: r, expression: '${expression}' }]`

async function versions(): Promise<number[]> {
  const rows = await api.services.sql<{ version: number }[]>`
    select version
    from policy_versions
    where org_id = ${caller.orgId}
    order by version`
  return rows.map(({ version }) => version)
}

test('applying the same policy simultaneously creates one version', async () => {
  const applied = await Promise.all(Array.from({ length: 8 }, () => apply(api, caller, policy('true'))))
  assert.deepEqual(new Set(applied.map(({ id, version }) => `${id} ${version}`)).size, 1)
  assert.equal(applied.filter(({ changed }) => changed).length, 1)
  assert.deepEqual(await versions(), [1])
})

test('applying different policies of one name simultaneously creates one version each, and the last is current', async () => {
  const contents = Array.from({ length: 6 }, (_, index) => policy(`findings.open.high <= ${index}`))
  const applied = await Promise.all(contents.map((content) => apply(api, caller, content)))
  assert.deepEqual(applied.map(({ version }) => version).sort(), [1, 2, 3, 4, 5, 6])
  assert.deepEqual(await versions(), [1, 2, 3, 4, 5, 6])
  assert.deepEqual(
    (await listAllPolicies(api.services.sql, caller.orgId)).map(({ version }) => version),
    [6],
  )
})

test('applying an earlier version again creates a new version and leaves the earlier ones unchanged', async () => {
  for (const expression of ['true', 'false', 'true']) await apply(api, caller, policy(expression))
  const rows = await api.services.sql<{ expression: string }[]>`
    select definition #>> '{engine,rules,0,expression}' as expression
    from policy_versions
    where org_id = ${caller.orgId}
    order by version`
  assert.deepEqual(
    rows.map(({ expression }) => expression),
    ['true', 'false', 'true'],
  )
})

test('each new version is audited with its principal; applying the same content is not', async () => {
  const { id } = await apply(api, caller, policy('true'))
  await apply(api, caller, policy('true'))
  const entries = await api.services.sql`
    select principal_type, action, object_id, details
    from audit_entries
    where org_id = ${caller.orgId}`
  assert.deepEqual(
    entries.map((entry) => ({ ...entry })),
    [
      {
        ...{ principal_type: 'command_line', action: 'policy.apply', object_id: id },
        details: { name: 'p', mode: 'enforce', version: 1 },
      },
    ],
  )
})

test('policies of the same name in two organizations are independent', async () => {
  const stranger = await api.caller()
  const [own, other] = [await apply(api, caller, policy('true')), await apply(api, stranger, policy('false'))]
  assert.notEqual(own.id, other.id)
  assert.deepEqual([own.version, other.version], [1, 1])
})

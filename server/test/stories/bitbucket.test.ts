import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type FakeBitbucket, startFakeBitbucket } from '../support/bitbucket/fake-bitbucket.ts'
import { type HostServer, startHostServer } from '../support/hosts/host-server.ts'
import { Stories } from '../support/hosts/stories/stories.ts'
import type { Json } from '../support/json.ts'
import { assertNothingFailed } from '../support/stories.ts'

let fake: FakeBitbucket
let server: HostServer
let stories: Stories

before(async () => {
  fake = await startFakeBitbucket()
  server = await startHostServer([fake])
  stories = new Stories(fake.world)
})
after(() => server.close())

const synchronize = async ({ id }: Json) => {
  await server.command('provider', 'sync', id, '--wait')
  await server.settled()
}

test('a vulnerability that the newest report does not have any more is fixed', async () => {
  const shop = stories.addRepository('scans/shop')
  stories.push(shop)
  const [kept, vanished] = [1, 2].map(() => stories.openAlert(shop, { type: 'code_scanning' }))
  const connection = await server.connectAccount(fake, 'scans')
  const statuses = async (): Promise<Json> => {
    const alerts: Json[] = await server.get('/v1/security/alerts?limit=100')
    return alerts
      .filter(({ repository }) => repository === 'scans/shop')
      .map(({ status }) => status)
      .sort()
  }
  assert.deepEqual(await statuses(), ['open', 'open'])
  shop.alerts.splice(shop.alerts.indexOf(vanished as NonNullable<typeof vanished>), 1)
  await synchronize(connection)
  assert.deepEqual(await statuses(), ['fixed', 'open'])
  // A commit without reports says nothing about alerts.
  stories.push(shop)
  shop.alerts.splice(0)
  await synchronize(connection)
  assert.deepEqual(await statuses(), ['fixed', 'open'])
  assert.ok(kept)
  await assertNothingFailed(server)
})

test('a workspace is connected with an OAuth consumer, and its webhooks are removed with it', async (t) => {
  const shop = stories.addRepository('consumers/shop')
  stories.push(shop)
  const folder = mkdtempSync(join(tmpdir(), 'consumer-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'secret')
  const { id, secret } = fake.tokens.addClient(shop.owner, 'consumer-key')
  writeFileSync(file, `${secret}\n`)
  const about = ['--org', 'default', '--provider', 'bitbucket', '--account', 'consumers']
  const connection = await server.command(
    'provider',
    'connect',
    ...about,
    '--client-id',
    id,
    '--client-secret-file',
    file,
  )
  await server.settled()
  assert.equal(fake.hookCount('consumers'), 2)
  stories.startRun(shop).finish('build', 'failure', { log: 'error TS2322: Type error\n' })
  await server.settled()
  const [run]: Json[] = (await server.get('/v1/runs?limit=100')).filter(
    ({ repository_full_name }: Json) => repository_full_name === 'consumers/shop',
  )
  assert.deepEqual([run?.status, run?.failure_category, run?.trigger?.kind], ['failure', 'build', 'push'])
  await server.command('provider', 'disconnect', connection.id)
  await server.settled()
  assert.equal(fake.hookCount('consumers'), 0)
  await assertNothingFailed(server)
})

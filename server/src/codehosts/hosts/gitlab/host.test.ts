import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { GROUP, type OpenGitlab, openGitlab } from '../../../../test/support/gitlab/open-host.ts'
import { HostRefusal, HostUnavailable } from '../../code-host.ts'

let open: OpenGitlab
before(async () => {
  open = await openGitlab()
})
after(() => open?.fake.close())

const token = (value: string) => ({ type: 'token', token: value }) as const

test('a group is found by its path and by its id', async () => {
  const { fake, host } = open
  const id = String(fake.world.organization(GROUP).id)
  const credentials = token(fake.token(GROUP))
  const expected = { id, account: { id, login: GROUP, type: 'group' }, repositories: 'all', suspended: false }
  assert.deepEqual(await host.readInstallation(GROUP, credentials), expected)
  assert.deepEqual(await host.readInstallation(id, credentials), expected)
  assert.equal(await host.readInstallation('other', credentials), null)
  assert.equal(await host.host(), new URL(fake.url).host)
})

test('a token that may only read a group does not connect it', async () => {
  const { fake, host } = open
  const credentials = token(fake.token(GROUP))
  for (const level of [0, 20, 30]) {
    fake.setAccessLevel(level)
    const refused = { status: 403, code: 'host_role_too_low', message: /needs the role Maintainer in the group acme/ }
    await assert.rejects(host.readInstallation(GROUP, credentials), refused)
  }
  fake.setAccessLevel(40)
  assert.equal((await host.readInstallation(GROUP, credentials))?.account.login, GROUP)
  fake.setAccessLevel(50)
})

test('credentials that GitLab does not accept are named', async () => {
  const { host } = open
  const refused = { status: 400, code: 'invalid_credentials' }
  await assert.rejects(host.readInstallation(GROUP, token('glpat-wrong')), refused)
  const client = { type: 'client', client_id: 'a', client_secret: 'b', tenant_id: null } as const
  await assert.rejects(host.readInstallation(GROUP, client), refused)
})

test('new credentials are used at once; without any, and with refused ones, the host is unavailable', async () => {
  const { fake, client, use } = open
  const { repository } = await open.addProject('credentials')
  const older = fake.token(GROUP)
  use(token(older))
  assert.notEqual(await client.readRepository(repository.id), null)
  use(null)
  await assert.rejects(client.readRepository(repository.id), (error) => {
    assert.ok(error instanceof HostUnavailable)
    return /no credentials/.test(error.message)
  })
  use(token('glpat-revoked'))
  await assert.rejects(client.readRepository(repository.id), (error) => {
    assert.ok(error instanceof HostUnavailable && !(error instanceof HostRefusal))
    assert.doesNotMatch(error.message, /glpat-revoked/)
    return /does not accept the credentials/.test(error.message)
  })
  use(token(fake.token(GROUP)))
  assert.notEqual(await client.readRepository(repository.id), null)
})

test('projects of subgroups belong to the group; those of other groups do not exist', async () => {
  const { fake, client } = open
  const { repository } = await open.addProject('team/shop')
  const { id, html_url } = repository
  assert.deepEqual(
    [repository.full_name, repository.private, html_url],
    ['acme/team/shop', true, `${fake.url}/acme/team/shop`],
  )
  const other = fake.stories.addRepository('acme-two/shop')
  assert.equal(await client.readRepository(String(other.id)), null)
  const page = await client.listRepositories({})
  assert.ok(page !== 'not_modified')
  assert.deepEqual(
    page.items.filter((item) => item.id === id),
    [repository],
  )
  assert.equal(await client.listRepositories({ etag: page.etag as string }), 'not_modified')
})

test('lists are read page by page', async () => {
  const { client } = open
  const { project, repository } = await open.addProject('many')
  const { stories } = open.fake
  stories.push(project)
  const started = Array.from({ length: 45 }, () => stories.startRun(project).finish('build'))
  const found: string[] = []
  for (let next: string | null | undefined; next !== null; ) {
    const page = await client.listRuns(repository, next ? { next } : {})
    assert.ok(page !== 'not_modified')
    found.push(...page.items.map(({ id }) => id))
    next = page.next
  }
  assert.deepEqual(found, started.map(({ id }) => String(id)).reverse())
  // A cursor cannot lead to another address.
  const odd = await client.listRuns(repository, { next: 'http://127.0.0.1:1/' })
  assert.ok(odd !== 'not_modified' && odd.items.length === 20)
})

test('callers are told of a limit, which is not waited for', async () => {
  const { fake, host } = open
  const { repository } = await open.addProject('limited')
  const client = host.open({ id: 'another', installation_id: repository.owner_id, host: repository.host })
  fake.trouble.limited = 1
  const told = await client.readRepository(repository.id).catch((caught) => caught)
  assert.ok(told instanceof HostUnavailable && told.retryAt !== null)
  fake.trouble.limited = 1
  const group = repository.owner_id
  const impatient = host.open({ id: 'connection', installation_id: group, host: repository.host, impatient: true })
  const error = await impatient.readRepository(repository.id).catch((caught) => caught)
  assert.ok(error instanceof HostUnavailable && error.retryAt !== null)
  assert.deepEqual(fake.violations, [])
})

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { startTestApi, type TestApi } from '../../../support/api.ts'
import { createPerson, pageHeaders, requestAs } from '../../../support/people.ts'

type Message = { to: string[]; raw: string }

const received: Message[] = []
const refused = 'refused@example.com'
let server: SMTPServer
let api: TestApi

before(async () => {
  server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: ({ address }, _session, done) => done(address === refused ? new Error('No such mailbox') : null),
    onData: (stream, { envelope }, done) => {
      text(stream).then((raw) => {
        received.push({ to: envelope.rcptTo.map(({ address }) => address), raw })
        done()
      }, done)
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  api = await startTestApi({ env: { SHIPLOCK_SMTP_URL: `smtp://127.0.0.1:${port}` } })
})
after(async () => {
  await api?.close()
  server?.close()
})

test('with SMTP settings an invitation is mailed to its address, and only there', async () => {
  const admin = await createPerson(api, { ...(await api.caller()), name: 'Grace Hopper' })
  const wanted = { email: 'ada@example.com', role: 'developer' }
  const { status, body } = await requestAs(api, admin, 'POST', '/invitations', wanted)
  assert.deepEqual([status, body.data.mail, body.data.link], [201, 'sent', null])
  const [message] = received
  assert.deepEqual(message?.to, ['ada@example.com'])
  assert.match(message?.raw ?? '', /Grace Hopper invites you/)
  const plain = (message?.raw ?? '').replaceAll('=\r\n', '').replaceAll('=3D', '=')
  const [, token] = /\/join#token=(\S+)/.exec(plain) ?? []
  const fields = { token, name: 'Ada Lovelace', password: 'a plain but long sentence' }
  const accepted = await api.request('POST', '/app/api/links/accept', { headers: pageHeaders(api), body: fields })
  assert.equal(accepted.status, 200, accepted.text)
})

test('an invitation whose mail is refused is stored, says so, and can be sent again', async () => {
  const admin = await createPerson(api, await api.caller())
  const answer = await requestAs(api, admin, 'POST', '/invitations', { email: refused, role: 'viewer' })
  assert.deepEqual([answer.status, answer.body.data.mail, answer.body.data.link], [201, 'failed', null])
  const again = await requestAs(api, admin, 'POST', `/invitations/${answer.body.data.id}/resend`)
  assert.deepEqual([again.status, again.body.data.mail], [200, 'failed'])
})

test('a name with line breaks adds no header to the message', async () => {
  const caller = await api.caller()
  const admin = await createPerson(api, caller)
  await api.services.sql`update organizations set name = ${'Acme\r\nBcc: eve@example.com'} where id = ${caller.orgId}`
  received.length = 0
  await requestAs(api, admin, 'POST', '/invitations', { email: 'bob@example.com', role: 'viewer' })
  const [headers = ''] = received[0]?.raw.split('\r\n\r\n') ?? []
  assert.doesNotMatch(headers, /^Bcc:/im)
  assert.deepEqual(received[0]?.to, ['bob@example.com'])
})

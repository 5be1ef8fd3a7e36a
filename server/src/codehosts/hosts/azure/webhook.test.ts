import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { systemClock } from '../../../platform/clock.ts'
import { openSealedText } from '../../../platform/crypto/sealed-text.ts'
import { parseDelivery } from './events.ts'
import { createReadHead, hasSignature, verify } from './webhook.ts'

const key = createSecretKey(randomBytes(32))
const readHead = createReadHead(key, systemClock)
const target = { installation_id: 'f844ec47-a9db-4511-8281-8b63f4eaf94e', secret: 's3cret:with colon' }
const PROJECT = 'be9b3917-87e6-42a4-a549-2bc06a7a878f'
const GUID = '3a7e60dc-c5b0-5009-86eb-0f217c12e2ea'

function basic(text: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` }
}

test('a delivery needs the secret as password, whatever the name, and is refused before its body is read', async () => {
  const body = Buffer.from('{}')
  assert.equal(await verify(body, basic(`shiplock:${target.secret}`), target), true)
  assert.equal(await verify(body, basic(`other:${target.secret}`), target), true)
  for (const headers of [{}, basic('shiplock:wrong'), basic(target.secret.slice(0, 6)), basic('shiplock:')])
    assert.deepEqual([hasSignature(headers, target), await verify(body, headers, target)], [false, false])
  assert.equal(await verify(body, basic(`shiplock:${target.secret}`), null), false)
  assert.equal(hasSignature(basic(`shiplock:${target.secret}`), target), true)
})

const event = {
  subscriptionId: GUID,
  notificationId: 3,
  id: 'ac1dd6da-af30-43cb-8434-e1005864b0a3',
  eventType: 'ms.vss-pipelines.stage-state-changed-event',
  resource: { run: { id: 12 }, stage: { name: 'Deploy to_prod' } },
  resourceContainers: { project: { id: PROJECT } },
}

test('an event has its own id, and a lane for its run', () => {
  const text = JSON.stringify(event)
  const head = readHead(Buffer.from(text), {}, target)
  assert.deepEqual(head, {
    id: event.id,
    event: event.eventType,
    action: null,
    installation_id: target.installation_id,
    lane: `run:${PROJECT}:12`,
    payload: text,
  })
  assert.match(
    readHead(Buffer.from(JSON.stringify({ ...event, id: undefined })), {}, target)?.id ?? '',
    /^azure_[0-9a-f]{64}$/,
  )
  assert.equal(readHead(Buffer.from('no JSON'), {}, target), null)
  assert.equal(readHead(Buffer.from('{}'), {}, target), null)
})

test('a stage can deploy: its run and its deployment are read', () => {
  assert.deepEqual(parseDelivery(event.eventType, event), {
    type: 'changes',
    changes: [
      { repository_id: `run:${PROJECT}_12`, type: 'run', id: `${PROJECT}_12` },
      { repository_id: `run:${PROJECT}_12`, type: 'deployment', id: `${PROJECT}_12_stage:Deploy%20to%5Fprod_0` },
    ],
  })
  assert.deepEqual(parseDelivery('workitem.created', {}), { type: 'unknown' })
  assert.throws(() => parseDelivery(event.eventType, { ...event, resource: {} }), /\/resource\/run is missing/)
})

const headers = {
  planurl: 'https://dev.azure.com/acme/',
  projectid: PROJECT,
  hubname: 'checks',
  planid: GUID,
  jobid: GUID,
  timelineid: GUID,
  taskinstanceid: GUID,
  authtoken: 'eyJ0eXAi.secret.token',
}
const body = { BuildId: '12', StageAttempt: '$(Checks.StageAttempt)', Environment: 'production' }

test('the token of a check is sealed before it is stored, and its request has one id', () => {
  const head = readHead(Buffer.from(JSON.stringify(body)), headers, target)
  assert.ok(head)
  assert.deepEqual([head.event, head.lane], ['invoke-rest-api-check', `run:${PROJECT}:12`])
  assert.ok(!head.payload.includes('secret.token'))
  const { Token, StageAttempt } = JSON.parse(head.payload)
  assert.equal(openSealedText(key, 'azure check', Token), headers.authtoken)
  assert.equal(StageAttempt, undefined)
  const again = readHead(Buffer.from(JSON.stringify(body)), { ...headers, authtoken: 'another' }, target)
  assert.equal(again?.id, head.id)
  const other = readHead(Buffer.from(JSON.stringify({ ...body, StageAttempt: '2' })), headers, target)
  assert.notEqual(other?.id, head.id)
})

test('a check becomes a request of our rule, whose answer goes to a path below our own address', () => {
  const head = readHead(Buffer.from(JSON.stringify(body)), headers, target)
  const translated = parseDelivery(head?.event ?? '', JSON.parse(head?.payload ?? ''))
  assert.ok(translated.type === 'changes')
  const [request, deployment] = translated.changes
  assert.ok(request?.type === 'gate_request')
  assert.deepEqual(request.request.run, { id: `${PROJECT}_12`, attempt: 1 })
  const path = `/${PROJECT}/_apis/distributedtask/hubs/checks/plans/${GUID}/events`
  assert.equal(request.request.callback_url, `${path}?job=${GUID}&timeline=${GUID}&task=${GUID}`)
  assert.deepEqual(deployment, { ...deployment, type: 'deployment', id: `${PROJECT}_12_name:production_1` })
  assert.throws(
    () => parseDelivery('invoke-rest-api-check', { ...JSON.parse(head?.payload ?? ''), BuildId: undefined }),
    /BuildId/,
  )
})

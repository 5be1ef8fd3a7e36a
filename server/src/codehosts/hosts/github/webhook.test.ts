import assert from 'node:assert/strict'
import { test } from 'node:test'
import examples from '@octokit/webhooks-examples' with { type: 'json' }
import { sign } from '@octokit/webhooks-methods'
import { createVerify, readHead } from './webhook.ts'

type Example = { name: string; examples: Record<string, unknown>[] }

const LANES: Record<string, RegExp> = {
  workflow_run: /^run:\d+$/,
  workflow_job: /^run:\d+$/,
  deployment: /^deployment:\d+$/,
  deployment_status: /^deployment:\d+$/,
  deployment_protection_rule: /^deployment:\d+$/,
  deployment_review: /^run:\d+$/,
  check_run: /^check_run:\d+$/,
  code_scanning_alert: /^alert:code_scanning:\d+:\d+$/,
  dependabot_alert: /^alert:dependabot:\d+:\d+$/,
  secret_scanning_alert: /^alert:secret_scanning:\d+:\d+$/,
  pull_request: /^pull:\d+:\d+$/,
  pull_request_review: /^pull:\d+:\d+$/,
  push: /^repository:\d+$/,
  repository: /^repository:\d+$/,
  installation: /^installation:\d+$/,
  installation_repositories: /^installation:\d+$/,
}

function headOf(event: string, payload: unknown) {
  const headers = { 'x-github-delivery': 'd1', 'x-github-event': event }
  return readHead(Buffer.from(JSON.stringify(payload)), headers)
}

test("every example of GitHub's payloads has a head, with the lane of its object", () => {
  let checked = 0
  for (const { name, examples: payloads } of examples as unknown as Example[]) {
    for (const payload of payloads) {
      const head = headOf(name, payload)
      assert.equal(head?.action, payload.action ?? null)
      const installation = payload.installation as { id: number } | undefined
      assert.equal(head?.installation_id, installation ? `${installation.id}` : null)
      if (!(name in LANES)) continue
      assert.match(head.lane, LANES[name] as RegExp, name)
      checked += 1
    }
  }
  assert.ok(checked > 50)
})

test('the payload is stored as it arrived, but never with the value of a secret', () => {
  const alert = { number: 4, secret: 'AKIAIOSFODNN7EXAMPLE', resolution_comment: 'AKIAIOSFODNN7EXAMPLE is old' }
  const { payload } = headOf('secret_scanning_alert', { action: 'resolved', alert }) ?? {}
  const stored = { number: 4, secret: '***', resolution_comment: '*** is old' }
  assert.deepEqual(JSON.parse(payload ?? ''), { action: 'resolved', alert: stored })
  const body = '{ "action": "created",  "alert": { "number": 4 } }'
  const headers = { 'x-github-delivery': 'd1', 'x-github-event': 'secret_scanning_alert' }
  assert.equal(readHead(Buffer.from(body), headers)?.payload, body)
})

test('a job has the lane of its run, and a status that of its deployment', () => {
  const run = headOf('workflow_run', { workflow_run: { id: 5 } })
  assert.equal(headOf('workflow_job', { workflow_job: { id: 9, run_id: 5 } })?.lane, run?.lane)
  const deployment = headOf('deployment', { deployment: { id: 6 } })
  assert.equal(
    headOf('deployment_status', { deployment: { id: 6 }, deployment_status: { id: 7 } })?.lane,
    deployment?.lane,
  )
})

test("a signature by GitHub's own library is accepted", async () => {
  const body = JSON.stringify({ text: 'ü ✓' })
  const headers = { 'x-hub-signature-256': await sign('secret', body) }
  const verifyWith = (...webhook_secrets: string[]) =>
    createVerify(async () => ({ app_id: '1', private_key: '', webhook_secrets, api_url: '' }))
  assert.equal(await verifyWith('other', 'secret')(Buffer.from(body), headers, null), true)
  assert.equal(await verifyWith('other')(Buffer.from(body), headers, null), false)
  assert.equal(await createVerify(async () => null)(Buffer.from(body), headers, null), false)
})

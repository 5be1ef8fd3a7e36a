import { createHash } from 'node:crypto'
import type { Json } from '../../support/json.ts'
import type { Client } from '../client.ts'
import type { Acknowledged, Kind } from '../journal.ts'
import { type Loss, lossUnlessEqual } from './loss.ts'

type Check = (client: Client, entry: Acknowledged) => Promise<Loss[]>

/** How each kind of write is read back through the API. */
const CHECKS: Record<Kind, Check> = {
  run: async (client, entry) => {
    const { body } = await client.api('GET', `/v1/runs/${entry.id}`)
    const { workflow_name, commit_sha, status, html_url } = body?.data ?? {}
    // A gate that rejects does not end a run; only the client of the test does.
    return lossUnlessEqual(
      entry,
      [workflow_name, commit_sha, status, html_url],
      [entry.pipeline, entry.commit, entry.status, entry.url],
    )
  },
  report: async (client, entry) => {
    const { body } = await client.read(`/runs/${entry.run_id}/reports/${entry.id}`)
    const { job, summary, attestations } = body?.data ?? {}
    const found = [job?.name, summary, attestations?.map(({ data }: Json) => data.passed)]
    return lossUnlessEqual(entry, found, [entry.job, `# ${entry.job}`, [entry.passed]])
  },
  artifact: async (client, entry) => {
    const { bytes } = await client.read(`/artifacts/${entry.id}/download`)
    const found = [bytes.length, createHash('sha256').update(bytes).digest('hex')]
    return lossUnlessEqual(entry, found, [entry.size, entry.sha256])
  },
  upload: async (client, entry) => {
    const upload = await client.api('GET', `/v1/security/uploads/${entry.id}`)
    const query = `repository=${encodeURIComponent(entry.repository)}&limit=1000`
    const { body } = await client.api('GET', `/v1/security/findings?${query}`)
    const rules = ((body?.data ?? []) as Json[]).map(({ rule_id }) => rule_id).sort()
    const expected = Array.from({ length: entry.results }, (_, at) => `rule-${at}`).sort()
    return lossUnlessEqual(entry, [upload.body?.data?.status, rules], ['finished', expected])
  },
  gate: async (client, entry) => {
    const { status, body } = await client.as(entry.poll_token, `/v1/ci/gates/${entry.id}`)
    return lossUnlessEqual(entry, [status, body?.data?.deployment_id], [200, entry.deployment_id])
  },
  decision: async (client, entry) => {
    const { body } = await client.api('GET', `/v1/deployments/${entry.id}`)
    const poll = await client.as(entry.poll_token, `/v1/ci/gates/${entry.gate_id}`)
    const answers = ((body?.data?.approvals ?? []) as Json[]).map(({ decision, note }) => [decision, note])
    const decision = entry.verb === 'approve' ? 'approved' : 'rejected'
    return lossUnlessEqual(entry, [poll.body?.data?.decision, answers], [decision, [[decision, entry.reason]]])
  },
  policy: async (client, entry) => {
    const { body } = await client.read(`/policies/${entry.id}`)
    return lossUnlessEqual(entry, body?.data?.name, entry.name)
  },
  key: async (client, entry) => {
    const { status } = await client.as(entry.key, '/v1/runs?limit=1')
    return entry.revoked === 'perhaps' ? [] : lossUnlessEqual(entry, status, entry.revoked ? 401 : 200)
  },
  triage: async (client, entry) => {
    const { body } = await client.read(`/security/findings/${entry.finding_id}`)
    const { state, dismiss_comment } = body?.data ?? {}
    return lossUnlessEqual(entry, [state, dismiss_comment], ['dismissed', entry.comment])
  },
}

const AT_ONCE = 8

/** Reads back everything that was acknowledged. */
export async function findLosses(client: Client, entries: readonly Acknowledged[]): Promise<Loss[]> {
  const losses: Loss[] = []
  const waiting = [...entries]
  const readNext = async () => {
    for (let entry = waiting.pop(); entry; entry = waiting.pop())
      losses.push(...(await CHECKS[entry.kind as Kind](client, entry)))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, readNext))
  return losses
}

import { acknowledged, type Journey, type World } from './journey.ts'

/** What a person changes in the console. */
export const personJourney: Journey = async (world) => {
  await world.random.pick([applyPolicy, createKey, createKey, dismissFinding])(world)
}

async function applyPolicy({ client, journal, nextName }: World): Promise<void> {
  const name = `policy ${nextName()}`
  const file = `name: ${name}\nmode: monitor\nrules:\n  - rule: ended\n    expression: run.status == "success"\n    trust: any\n`
  const applied = acknowledged(await client.change('POST', '/policies', { file }))
  if (applied) journal.note({ kind: 'policy', id: applied.id, name })
}

/** Two of three keys are revoked again. */
async function createKey({ client, journal, random, nextName }: World): Promise<void> {
  const body = { name: nextName(), scopes: ['read:pipelines'] }
  const created = acknowledged(await client.change('POST', '/api-keys', body))
  if (!created) return
  journal.note({ kind: 'key', id: created.id, key: created.key, revoked: false })
  if (random.next() < 0.3) return
  const revoked = acknowledged(await client.change('POST', `/api-keys/${created.id}/revoke`))
  // Without an answer, the key may be revoked or not.
  journal.note({ kind: 'key', id: created.id, key: created.key, revoked: revoked ? true : 'perhaps' })
}

async function dismissFinding({ client, journal, random, nextName }: World): Promise<void> {
  const page = await client.read('/security/findings?state=open&limit=100')
  const finding = random.pick((page.body?.data ?? []) as { id: string }[])
  if (!finding) return
  const body = { action: 'dismiss', reason: 'false_positive', comment: nextName(), finding_ids: [finding.id] }
  const created = acknowledged(await client.change('POST', '/security/triage', body))
  if (created) journal.note({ kind: 'triage', id: created.id, finding_id: finding.id, comment: body.comment })
}

import { acknowledged, givesUp, type Journey } from './journey.ts'
import { createRun } from './runs.ts'

/** A job opens a gate, and an API key decides. */
export const gateJourney: Journey = async (world) => {
  const { client, journal, random } = world
  const run = await createRun(world)
  if (!run) return
  const body = { run_id: run.id, environment: 'production', job: 'deploy' }
  const gate = acknowledged(await client.api('POST', '/v1/ci/gates', body))
  if (!gate) return
  const { gate_id: id, deployment_id, poll_token } = gate
  journal.note({ kind: 'gate', id, deployment_id, poll_token })
  if (givesUp(world)) return
  const verb = random.pick(['approve', 'reject'])
  const reason = `Decided in ${world.nextName()} as announced.`
  // A repeated answer whose first try was stored is refused: the deployment is decided already.
  if (!acknowledged(await client.answer(deployment_id, verb, reason))) return
  journal.note({ kind: 'decision', id: deployment_id, gate_id: id, poll_token, verb, reason })
}

import { createHash } from 'node:crypto'
import type { Json } from '../../support/json.ts'
import { acknowledged, type Journey, type World } from './journey.ts'

/** An organization may create 2,000 runs a day, and three actors create runs. */
const RUNS_MAX = 600

/** A run is created, and finished. */
export const runJourney: Journey = async (world) => {
  const { client, journal, random } = world
  const run = await createRun(world)
  if (!run || random.next() < 0.3) return
  const changed = {
    status: random.pick(['success', 'failure', 'cancelled']),
    url: `https://ci.example/${world.nextName()}`,
  }
  if (!acknowledged(await client.api('PATCH', `/v1/ci/runs/${run.id}`, changed))) return
  journal.note({ ...run, status: changed.status, url: changed.url })
}

/** The journal's entry of a new run; null if no more can be created. */
export async function createRun(world: World): Promise<Json | null> {
  if (world.runs.length >= RUNS_MAX) return null
  const name = world.nextName()
  const commit = createHash('sha1').update(name).digest('hex')
  const created = acknowledged(
    await world.client.api('POST', '/v1/ci/runs', {
      ci_system: 'crash-test',
      external_run_id: name,
      repository: `github.com/acme/app-${world.random.below(5)}`,
      commit_sha: commit,
      pipeline_name: `build ${name}`,
    }),
  )
  if (!created) return null
  const entry = {
    kind: 'run' as const,
    id: created.id,
    pipeline: `build ${name}`,
    commit,
    status: 'in_progress',
    url: null,
  }
  world.journal.note(entry)
  world.runs.push(created.id)
  return entry
}

/** A run for a report or a gate: a new one, or one of the earlier ones. */
export async function someRun(world: World): Promise<string | null> {
  const created = world.random.next() < 0.5 ? await createRun(world) : null
  return created?.id ?? world.random.pick(world.runs) ?? null
}

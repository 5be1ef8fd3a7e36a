import { Type } from 'typebox'
import type { ObjectChange } from '../object-change.ts'

/** A change, and the connection whose webhook named it. */
export type ReadObject = { org_id: string; connection_id: string; change: ObjectChange }

/** What queues the job that reads a changed object. Its `run` is in the job itself. */
export const readObject = {
  name: 'codehosts.read-object',
  payload: Type.Object({
    org_id: Type.String(),
    connection_id: Type.String(),
    change: Type.Object({ type: Type.String(), repository_id: Type.String() }),
  }),
  attemptsMax: 20,
  once: ({ connection_id, change }: ReadObject) => JSON.stringify([connection_id, ...nameOf(change)]),
}

/** What identifies the changed object. Changes that are known only from a webhook are each one. */
function nameOf(change: ObjectChange): (string | number | null)[] {
  const { type, repository_id } = change
  switch (change.type) {
    case 'repository':
      return [type, repository_id, change.change]
    case 'run':
    case 'deployment':
      return [type, repository_id, change.id]
    case 'run_deployments':
      return [type, repository_id, change.run_id]
    case 'pull_request':
      return [type, repository_id, change.number]
    case 'checks':
      return [type, repository_id, change.commit_sha]
    case 'alert':
      return [type, repository_id, change.alert.type, change.alert.number]
    case 'alerts':
      return [type, repository_id]
    case 'push':
      return [type, repository_id, change.push.ref, change.push.before, change.push.after]
    case 'gate_request':
      return [type, repository_id, change.request.callback_url]
  }
}

import { restPath } from '../../../kit/rest-client.ts'

/** The task of an "Invoke REST API" check that waits for our answer. All are GUIDs but the hub. */
export type CheckTask = {
  project: string
  hub: string
  plan: string
  job: string
  timeline: string
  task: string
}

const GUID = '([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'
const PATH = new RegExp(`^/${GUID}/_apis/distributedtask/hubs/([a-z]{1,30})/plans/${GUID}/events$`)
const ID = new RegExp(`^${GUID}$`)

/**
 * The path that the answer goes to, after the name of the organization. It is what is stored of the
 * check; the organization and the origin are always those of the connection.
 */
export function checkAddress({ project, hub, plan, job, timeline, task }: CheckTask): string {
  const path = restPath`/${project}/_apis/distributedtask/hubs/${hub}/plans/${plan}/events`
  return `${path}?${new URLSearchParams({ job, timeline, task })}`
}

/** Null for an address of another form. */
export function parseCheckAddress(address: string): CheckTask | null {
  const [path = '', search = ''] = address.split('?')
  const [, project, hub, plan] = PATH.exec(path) ?? []
  const query = new URLSearchParams(search)
  const [job, timeline, task] = ['job', 'timeline', 'task'].map((name) => ID.exec(query.get(name) ?? '')?.[1])
  return project && hub && plan && job && timeline && task ? { project, hub, plan, job, timeline, task } : null
}

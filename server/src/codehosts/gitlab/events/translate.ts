import type { Clock } from '../../../platform/clock.ts'
import type { HostWebhooks } from '../../code-host.ts'
import type { ObjectChange } from '../../object-change.ts'
import { build, deployment, mergeRequest, note, pipeline, project, vulnerability } from './object-events.ts'
import { push } from './push-event.ts'

type Translator = (payload: unknown) => ObjectChange[]

/** Every event that we use, by `object_kind`; events of projects by `event_name`. */
export function createTranslate(clock: Clock): HostWebhooks['translate'] {
  const translators: Readonly<Record<string, Translator>> = {
    pipeline,
    build,
    deployment,
    merge_request: mergeRequest,
    note,
    push: push(clock),
    vulnerability,
    project_create: project('changed'),
    project_update: project('changed'),
    project_rename: project('changed'),
    project_transfer: project('changed'),
    project_destroy: project('deleted'),
  }
  return (event, payload) => {
    if (!Object.hasOwn(translators, event)) return { type: 'unknown' }
    const changes = (translators[event] as Translator)(payload)
    return changes.length === 0 ? { type: 'unknown' } : { type: 'changes', changes }
  }
}

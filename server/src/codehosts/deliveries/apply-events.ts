import type { Tx } from '../../platform/db/sql.ts'
import { publishUpdates, type Update, update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { saveRepository } from '../connections/save-repository.ts'
import { formatHostAlertId } from '../host-alert.ts'
import { formatHostDeploymentId } from '../host-deployment.ts'
import type { HostEvent, HostEventKind, HostEvents, HostSource } from '../host-event.ts'
import type { HostRepository } from '../host-repository.ts'
import { formatHostRunId } from '../host-run.ts'
import type { HostEventHandlers } from './host-event-handler.ts'

/**
 * Applies events in the caller's transaction, in their order: stores what each says about its
 * repository, then calls the handlers of its kind.
 */
export async function applyEvents(
  { services, handlers }: { services: Services; handlers: HostEventHandlers },
  tx: Tx,
  source: HostSource,
  events: readonly HostEvent[],
): Promise<void> {
  const apply = async <Kind extends HostEventKind>(kind: Kind, data: HostEvents[Kind]) => {
    for (const handle of handlers[kind]) await handle(services, tx, source, data)
  }
  let remembered: HostRepository | null = null
  for (const event of events) {
    const { kind, data } = event
    const repository = getRepository(event)
    if (repository !== remembered) await saveRepository(services, tx, source, repository)
    remembered = repository
    await apply(kind, data)
  }
  await publishUpdates(
    tx,
    source.org_id,
    events.flatMap((event) => updatesBy(source, event)),
  )
}

export function getRepository({ data }: HostEvent): HostRepository {
  return 'repository' in data ? data.repository : data.deployment.repository
}

/**
 * What people see differently after an event. Handlers notify what follows from several events,
 * such as the status of a deployment.
 */
function updatesBy({ provider }: HostSource, { kind, data }: HostEvent): Update[] {
  switch (kind) {
    case 'repository':
      return [update('repository')]
    case 'run':
      return [update('run', formatHostRunId(provider, data.id))]
    case 'job':
      return [update('run', formatHostRunId(provider, data.run_id))]
    case 'deployment':
      return [update('deployment', formatHostDeploymentId(provider, data.id))]
    case 'alert':
      return [update('alert', formatHostAlertId(provider, data.repository.id, data))]
    default:
      return []
  }
}

import type { Tx } from '../../platform/db/sql.ts'
import type { Services } from '../../services.ts'
import type { HostEventKind, HostEvents, HostSource } from '../host-event.ts'

/**
 * Applies one event in the caller's transaction. Events arrive late, twice and out of order, from
 * webhooks and from lists, in several processes at the same time: the result must not depend on
 * their order. Requests to the host belong in a job that the handler enqueues.
 */
export type HostEventHandler<Kind extends HostEventKind> = (
  services: Services,
  tx: Tx,
  source: HostSource,
  data: HostEvents[Kind],
) => Promise<void>

/** The handlers of each kind, in the order in which they are called. */
export type HostEventHandlers = { readonly [Kind in HostEventKind]: readonly HostEventHandler<Kind>[] }

/** What jobs that apply events get: the services, and the handlers of the slices above. */
export type HandlingServices = Services & { readonly handlers: HostEventHandlers }

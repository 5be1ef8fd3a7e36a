import { type Static, type TObject, type TProperties, Type } from 'typebox'
import type { TranslatedDelivery } from '../../code-host.ts'
import type { HostEvent } from '../../host-event.ts'
import type { HostRepository } from '../../host-repository.ts'
import { readAs } from '../../kit/payload.ts'
import { Repository, repositoryOf } from '../objects/repository.parser.ts'

/** Reads the payload of one event. Throws an `Error` that names the field if it does not fit. */
export type EventTranslator = (payload: unknown) => TranslatedDelivery

/**
 * Translates payloads that have these fields and a repository. `toEvent` returns null for one that
 * tells nothing.
 */
export function repositoryEvent<Fields extends TProperties>(
  fields: Fields,
  toEvent: (payload: Static<TObject<Fields>>, repository: HostRepository) => HostEvent | null,
): EventTranslator {
  const own = Type.Object(fields)
  const common = Type.Object({ repository: Repository })
  return (payload) => {
    const repository = repositoryOf(readAs(common, payload).repository)
    const event = toEvent(readAs(own, payload), repository)
    return event === null ? { type: 'unknown' } : { type: 'events', events: [event] }
  }
}

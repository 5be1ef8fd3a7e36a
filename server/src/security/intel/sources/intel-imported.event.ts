import { Type } from 'typebox'
import type { Event } from '../../../platform/queue/event.ts'

/** Published by every import of vulnerability intelligence. It concerns all organizations. */
export const intelImported: Event<{ source: string }> = {
  name: 'security.intel.imported',
  payload: Type.Object({ source: Type.String() }),
  once: () => 'any',
}

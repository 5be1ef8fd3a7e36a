import { Type } from 'typebox'
import type { Event } from '../../../platform/queue/event.ts'

/** Published when what is known of vulnerabilities has changed, for every organization. */
export const intelImported: Event<{ source: string }> = {
  name: 'security.intel.imported',
  payload: Type.Object({ source: Type.String() }),
  once: () => 'any',
}

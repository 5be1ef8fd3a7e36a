import type { SeededRandom } from '../../../src/platform/seeded-random.ts'
import type { Json } from '../../support/json.ts'
import type { Client, Reply } from '../client.ts'
import type { Journal } from '../journal.ts'

/** What the journeys of one actor share. */
export type World = {
  client: Client
  journal: Journal
  random: SeededRandom
  /** Names that no other actor uses. */
  nextName(): string
  /** Runs that later journeys can use. */
  runs: string[]
}

/** A few requests that belong together, as a client sends them. Ends early where it is refused. */
export type Journey = (world: World) => Promise<void>

/** The data of an acknowledged write; null if it was refused, for example by a limit. */
export function acknowledged(reply: Reply | null): Json | null {
  return reply && reply.status >= 200 && reply.status < 300 ? reply.body.data : null
}

/** Clients stop in the middle, too: what they leave unfinished must not stay for ever. */
export function givesUp({ random }: World): boolean {
  return random.next() < 0.05
}

import type { Actor } from '../../access/actor.ts'
import type { RunIntake } from '../../ci/runs/run-intake.ts'
import type { HostEvent, HostSource } from '../../codehosts/host-event.ts'
import type { HostAccount, HostRepository } from '../../codehosts/host-repository.ts'
import type { Organization } from '../../organizations/organization.store.ts'
import type { Clock } from '../../platform/clock.ts'
import type { SeededRandom } from '../../platform/seeded-random.ts'
import type { Services } from '../../services.ts'
import type { DemoHost } from './demo-host.ts'

/** What the parts of the story use. */
export type Demo = {
  /** On one transaction, with the clock of the story. */
  services: Services
  clock: PastClock
  /** The present time, at which the story ends. */
  now: Date
  random: SeededRandom
  organization: Organization
  host: DemoHost
  source: HostSource
  intake: RunIntake
  /** The repositories on the code host, by name. */
  repositories: ReadonlyMap<string, HostRepository>
  /** A colleague, by login. */
  person(login: string): Actor
  account(login: string): HostAccount
  /** An API key, by name. */
  key(name: string): Actor
  /** When the story used an API key last, by name. */
  lastUses: ReadonlyMap<string, Date>
  /** Applies events of the code host. */
  apply(...events: HostEvent[]): Promise<void>
  /** Runs the jobs that were queued. */
  settle(): Promise<void>
  /** Evaluates the policies of every repository that has changed. */
  evaluateAll(): Promise<void>
}

/** Something that happens at a time. */
export type Step = { at: Date; tell(demo: Demo): Promise<void> }

/** A time so many minutes after another. */
export function getTimeAfter(time: Date, minutes: number): Date {
  return new Date(time.getTime() + minutes * 60_000)
}

/** A clock that shows the time of what is told, and never goes back. */
export class PastClock implements Clock {
  #now: Date

  constructor(start: Date) {
    this.#now = start
  }

  now(): Date {
    return this.#now
  }

  /** Advances the clock to a time. An earlier time leaves it as it is. */
  advance(to: Date): void {
    if (to > this.#now) this.#now = to
  }
}

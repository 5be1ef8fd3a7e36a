import type { JobClass } from './job.store.ts'
import type { RunningJob, Turn } from './running-jobs.store.ts'

const FIRST: Turn = { afterOrganization: '00000000-0000-0000-0000-000000000000', isSystemFirst: true }

/**
 * Whose turn it is to get a slot of a worker, for each class of jobs: the organizations one after
 * the other, and the system after each of them.
 */
export class Turns {
  readonly #turns: Record<JobClass, Turn> = { interactive: FIRST, bulk: FIRST }

  next(jobClass: JobClass): Turn {
    return this.#turns[jobClass]
  }

  took({ class: jobClass, organization_id }: Pick<RunningJob, 'class' | 'organization_id'>): void {
    const { afterOrganization } = this.#turns[jobClass]
    this.#turns[jobClass] =
      organization_id === null
        ? { afterOrganization, isSystemFirst: false }
        : { afterOrganization: organization_id, isSystemFirst: true }
  }
}

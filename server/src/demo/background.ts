import { applyEvents } from '../codehosts/deliveries/apply-events.ts'
import type { HostParts, HostServices } from '../codehosts/deliveries/host-event-handler.ts'
import type { HostEvent, HostSource } from '../codehosts/host-event.ts'
import { evaluateRepositoryJob } from '../compliance/results/evaluate-repository.job.ts'
import type { Job } from '../platform/queue/job.ts'
import { deleteOwnJobs, type TakenJob } from '../platform/queue/queue.store.ts'
import type { Services } from '../services.ts'

/** What the worker of the program does, and what the events of its code hosts lead to. */
export type Background = { jobs: readonly Job<HostServices, never>[]; parts: HostParts }

/** Jobs that would be done again after almost every step. They are done once, at the end. */
const LATER = [evaluateRepositoryJob.name]

/** How the story runs the jobs that it queues, and applies the events of its code host. */
export function settleWith(services: Services, { jobs, parts }: Background) {
  const byName = new Map(jobs.map((job) => [job.name, job]))
  const later = new Map<string, TakenJob>()
  const run = async ({ name, payload }: TakenJob) => {
    const job = byName.get(name)
    if (!job) throw new Error(`Nothing works on the job ${name}.`)
    await job.run({ ...services, ...parts }, payload as never)
  }
  const settle = async () => {
    const delayed = new Set<string>()
    for (let taken = await deleteOwnJobs(services.sql); taken.length > 0; taken = await deleteOwnJobs(services.sql))
      for (const job of taken) {
        const key = JSON.stringify([job.name, job.payload])
        if (LATER.includes(job.name)) later.set(key, job)
        else if (!delayed.has(key)) await run(job)
        if (job.is_delayed) delayed.add(key)
      }
  }
  return {
    settle,
    apply: (source: HostSource, events: readonly HostEvent[]) =>
      services.sql.begin((tx) => applyEvents({ services, handlers: parts.handlers }, tx, source, events)),
    async evaluateAll() {
      for (const job of later.values()) await run(job)
      later.clear()
      await settle()
    },
  }
}

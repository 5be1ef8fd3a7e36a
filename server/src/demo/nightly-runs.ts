import type { HostRepository } from '../codehosts/host-repository.ts'
import { DAY_MS } from '../platform/clock.ts'
import { reportCi } from './ci-reports.ts'
import { computeSha } from './commits.ts'
import { completeRun, startHostRun } from './host-runs.ts'
import { HOSTED } from './world/company.ts'
import { type Demo, getTimeAfter, type Step } from './world/demo.ts'

const EVERY_DAYS = 3

/** Scheduled scans of the main branches. Now and then one fails or is cancelled. */
export function makeNightlySteps(demo: Demo): Step[] {
  return HOSTED.flatMap((about, index) => {
    const { name, minutes } = about
    const repository = demo.repositories.get(name) as HostRepository
    const steps: Step[] = []
    for (let days = 88 - (index % EVERY_DAYS); days > 0; days -= EVERY_DAYS) {
      const start = new Date(demo.now.getTime() - days * DAY_MS)
      start.setUTCHours(2, 30 + index * 2, 0, 0)
      const end = getTimeAfter(start, minutes * 0.6 + demo.random.below(3))
      const chance = demo.random.next()
      const status = chance < 0.04 ? 'failure' : chance < 0.06 ? 'cancelled' : chance < 0.07 ? 'timed_out' : 'success'
      steps.push({
        at: end,
        async tell(told) {
          const run = startHostRun(told, {
            repository,
            workflow: 'nightly',
            kind: 'schedule',
            ref: 'refs/heads/main',
            start,
            login: 'isolberg',
            sha: computeSha(`night ${name} ${days}`),
            message: 'Nightly scan of the main branch',
          })
          const ended = await completeRun(told, run, status, end)
          // The policies look at the newest run of a repository.
          if (days <= EVERY_DAYS) await reportCi(told, ended, about)
        },
      })
    }
    return steps
  })
}

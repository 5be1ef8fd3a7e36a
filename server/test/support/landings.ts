import { applyEvents } from '../../src/codehosts/deliveries/apply-events.ts'
import type { HostCommitList } from '../../src/codehosts/host-change.ts'
import type { HostEvent, HostSource } from '../../src/codehosts/host-event.ts'
import { hostEventHandlers } from '../../src/host-event-handlers.ts'
import { findChange, type StoredChange } from '../../src/provenance/changes/change.store.ts'
import type { ChangeRecord } from '../../src/provenance/changes/change-record.ts'
import { recordDueChanges } from '../../src/provenance/changes/landings.job.ts'
import type { Services } from '../../src/services.ts'
import type { TestApi } from './api.ts'
import { type FakeAnswers, fakeCodeHost } from './fake-client.ts'
import { insertConnection } from './host-objects.ts'
import { drainQueue } from './queue.ts'

/** A host that answers every question with nothing. */
export const SILENT: FakeAnswers = {
  listRepositories: async () => ({ items: [], next: null, etag: null }),
  listReviews: async () => [],
  listChecks: async () => [],
  readCommits: async () => [],
  readPullRequest: async () => null,
  listPullRequestCommits: async () => null,
  compareCommits: async () => null,
  listChangedFiles: async () => null,
  readBranchRules: async () => null,
  readCodeOwners: async () => null,
  readBranchHead: async () => null,
  readAccount: async () => null,
  readFile: async () => null,
  listJobs: async () => [],
  listFolder: async () => [],
}

/** A connected organization whose host gives these answers, and what has landed in it. */
export type Landed = {
  source: HostSource
  services: Services
  answers: FakeAnswers
  /** Applies each event in a transaction of its own, as deliveries are applied. */
  tell(...events: HostEvent[]): Promise<void>
  /** Does what is due now. */
  work(): Promise<void>
  /** The changes, in the order of their links. */
  changes(): Promise<StoredChange[]>
  records(): Promise<ChangeRecord[]>
}

export async function landIn(api: TestApi, given: FakeAnswers = {}): Promise<Landed> {
  const { orgId } = await api.caller()
  const source = await insertConnection(api.services.sql, orgId)
  const { codeHosts, answers } = fakeCodeHost({ ...SILENT, ...given })
  const services = { ...api.services, codeHosts }
  const changes = async () => {
    const rows = await services.sql<{ id: string }[]>`
      select id
      from changes
      where org_id = ${orgId}
      order by link_index`
    return Promise.all(rows.map(async ({ id }) => (await findChange(services.sql, orgId, id)) as StoredChange))
  }
  return {
    source,
    services,
    answers,
    async tell(...events) {
      for (const event of events)
        await services.sql.begin((tx) => applyEvents({ services, handlers: hostEventHandlers }, tx, source, [event]))
    },
    async work() {
      await recordDueChanges.run(services, {})
      await drainQueue({ ...api, services })
    },
    changes,
    records: async () => (await changes()).map(({ record }) => record as ChangeRecord),
  }
}

export function commitList(...commits: HostCommitList['commits']): HostCommitList {
  return { commits, complete: true }
}

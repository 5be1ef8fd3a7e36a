import { runConcurrently } from '../../platform/concurrency-limit.ts'
import { countConnected, listConnected } from '../../repositories/connected-repository.store.ts'
import { toHostRepository } from '../connections/find-host-repository.ts'
import type { HostRepository } from '../host-repository.ts'
import { readRepository } from './read-repository.ts'
import { updateConnection } from './sync.store.ts'
import { countRepositories, listRead, upsertRead } from './sync-repository.store.ts'
import type { SyncRun } from './sync-run.ts'

const REPOSITORIES_AT_ONCE = 8

/**
 * Reads the objects of every repository of the connection, several repositories side by side.
 * Returns false if the time of the job ended before.
 */
export async function readRepositories(run: SyncRun): Promise<boolean> {
  const { services, sync, slice } = run
  const [{ read }, total] = [await countRepositories(services.sql, sync), await countConnected(services.sql, sync)]
  const progress = new Progress(run, read, total)
  await progress.show()
  await runConcurrently(unreadRepositories(run), REPOSITORIES_AT_ONCE, async (repository) => {
    try {
      const note = await readRepository(run, repository)
      if (note === 'unfinished') return
      await upsertRead(services.sql, sync, repository.id, note)
      slice.progressed = true
      await progress.count()
    } catch (error) {
      slice.end()
      throw error
    }
  })
  return !slice.isOver || progress.isComplete
}

/** The repositories that this synchronization has not read, by id. */
async function* unreadRepositories({ services, sync, slice }: SyncRun): AsyncGenerator<HostRepository> {
  let page = await listConnected(services.sql, sync, '')
  while (page.length > 0) {
    const ids = page.map(({ id }) => id)
    const read = await listRead(services.sql, sync, ids)
    for (const repository of page.filter(({ id }) => !read.has(id))) {
      if (slice.isOver) return
      yield toHostRepository(repository)
    }
    page = await listConnected(services.sql, sync, ids.at(-1) ?? '')
  }
}

const SHOW_EVERY_MS = 1000

/** Shows on the connection how many repositories are done, at most once a second. */
class Progress {
  readonly #run: SyncRun
  readonly #total: number
  #done: number
  #shownAt = 0

  constructor(run: SyncRun, done: number, total: number) {
    this.#run = run
    this.#done = done
    this.#total = total
  }

  get isComplete(): boolean {
    return this.#done >= this.#total
  }

  async count(): Promise<void> {
    this.#done += 1
    if (this.#run.services.clock.now().getTime() - this.#shownAt >= SHOW_EVERY_MS) await this.show()
  }

  async show(): Promise<void> {
    const { services, sync } = this.#run
    this.#shownAt = services.clock.now().getTime()
    await updateConnection(services.sql, sync.connection_id, { sync_done: this.#done, sync_total: this.#total })
  }
}

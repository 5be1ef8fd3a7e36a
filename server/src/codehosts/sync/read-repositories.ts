import type { HostRepository } from '../host-repository.ts'
import { readRepository } from './read-repository.ts'
import { eachSideBySide } from './side-by-side.ts'
import { updateConnection } from './sync.store.ts'
import { countRead, listUnread, markRead } from './sync-repository.store.ts'
import type { SyncRun } from './sync-run.ts'

const REPOSITORIES_AT_ONCE = 8

/**
 * Reads the objects of every repository of the connection, several repositories side by side.
 * Returns false if the time of the job ended before.
 */
export async function readRepositories(run: SyncRun): Promise<boolean> {
  const { services, sync, slice } = run
  const progress = new Progress(run, await countRead(services.sql, sync, run.source.provider))
  await progress.show()
  await eachSideBySide(unreadRepositories(run), REPOSITORIES_AT_ONCE, async (repository) => {
    try {
      const note = await readRepository(run, repository)
      if (note === 'unfinished') return
      await markRead(services.sql, sync, repository.id, note)
      await progress.count()
    } catch (error) {
      slice.end()
      throw error
    }
  })
  return !slice.isOver || progress.isComplete
}

async function* unreadRepositories({ services, sync, source, slice }: SyncRun): AsyncGenerator<HostRepository> {
  let afterId = ''
  for (;;) {
    const repositories = await listUnread(services.sql, sync, source.provider, afterId)
    for (const repository of repositories) {
      if (slice.isOver) return
      yield repository
    }
    const last = repositories.at(-1)
    if (last === undefined) return
    afterId = last.id
  }
}

const SHOW_EVERY_MS = 1000

/** Shows on the connection how many repositories are done, at most once a second. */
class Progress {
  readonly #run: SyncRun
  readonly #total: number
  #done: number
  #shownAt = 0

  constructor(run: SyncRun, { done, total }: { done: number; total: number }) {
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

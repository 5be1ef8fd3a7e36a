import { collectConcurrently, runConcurrently } from '../../platform/concurrency.ts'
import { countConnected, listConnected } from '../../repositories/followed-repository.store.ts'
import { HostRefusal, HostUnavailable } from '../code-host.ts'
import { findLastEvent } from '../connections/connection.store.ts'
import { formatWebhookAddress } from '../connections/connection-secrets.ts'
import { toHostRepository } from '../connections/open-client.ts'
import { isRefused, upsertRefusals } from '../connections/refusal.store.ts'
import { getAlertListName, HOST_ALERT_TYPES, type HostAlertType } from '../host-alert.ts'
import type { HostRepository } from '../host-repository.ts'
import { BrokenList } from '../kit/page-walk.ts'
import { updateConnection } from './sync.store.ts'
import { countRepositories, listRead, upsertRead } from './sync-repository.store.ts'
import { type RepositoryPass, readSafely, type SyncRun } from './sync-run.ts'
import { type ListedItem, SYNCED_LISTS, type SyncedList, toDeploymentItem, toRunItem } from './synced-list.ts'
import { abandonList, applyItems, synchronizeList } from './synchronize-list.ts'

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
      const read = await readRepository(run, repository)
      if (read === 'unfinished') return
      await services.sql.begin(async (tx) => {
        await upsertRead(tx, sync, repository.id, read.note)
        await upsertRefusals(tx, { ...sync, ...repository }, read.refusals, services.clock.now())
      })
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

const OPEN_MAX = 100
const OPEN_ALERTS_MAX = 100_000
const APPLIED_AT_ONCE = 100
const READS_AT_ONCE = 4
const MESSAGE_CHARS_MAX = 300

/** What could not be read of a repository. */
type RepositoryRead = { note: string | null; refusals: ReadonlyMap<string, HostRefusal> }

/**
 * Reads all lists of a repository, and then what is stored as open and was not in them: its end was
 * missed. Returns `unfinished` if the time of the job ended before.
 */
export async function readRepository(run: SyncRun, repository: HostRepository): Promise<RepositoryRead | 'unfinished'> {
  const notes: string[] = []
  const note = (what: string, error: unknown) => {
    const { name: type, message } = error as Error
    run.services.log.warn({ repository: repository.full_name, what, type, message }, 'Could not synchronize an object')
    notes.push(`${repository.full_name}, ${what}: ${message.slice(0, MESSAGE_CHARS_MAX).replaceAll(/\p{Cc}/gu, '?')}`)
  }
  const pass: RepositoryPass = {
    run,
    repository,
    now: run.services.clock.now(),
    seen: new Set(),
    whole: new Map(),
    refusals: new Map(),
    note,
  }
  const failures: Error[] = []
  await readSafely(
    run,
    () => ensureWebhook(pass),
    (error) => failures.push(error),
  )
  for (const { message } of failures) {
    // Until the webhook works, people see what its absence means.
    const at = await findLastEvent(run.services.sql, run.connection.id)
    const silence = at === null ? 'No event has come yet.' : `No event has come since ${at.toISOString()}.`
    note('webhook', new Error(`${message} ${silence}`))
  }
  for (const list of SYNCED_LISTS) if (!(await readList(pass, list))) return 'unfinished'
  await readOpen(pass, 'runs', () => openRuns(pass))
  await readOpen(pass, 'deployments', () => openDeployments(pass))
  for (const type of HOST_ALERT_TYPES) await readOpen(pass, getAlertListName(type), () => vanishedAlerts(pass, type))
  return { note: notes[0] ?? null, refusals: pass.refusals }
}

/** Hosts without an App of ours send only what we ask for. */
async function ensureWebhook({ run, repository }: RepositoryPass): Promise<void> {
  const { services, connection, client } = run
  const secrets = await services.secretsOfConnections.read(connection.id)
  if (secrets === null) return
  const address = formatWebhookAddress(services.config.baseUrl, connection)
  const look = run.sync.started_at.toISOString()
  await client.ensureWebhook(repository, { address, secret: secrets.webhook_secret, look })
}

async function readList(pass: RepositoryPass, list: SyncedList): Promise<boolean> {
  const failures: Error[] = []
  const isComplete = await readSafely(
    pass.run,
    () => synchronizeList(pass, list),
    (error) => failures.push(error),
  )
  const stated = pass.refusals.get(list.name)
  for (const error of [...failures, ...(stated ? [stated] : [])]) {
    const isBroken = error instanceof BrokenList
    const isExpected = list.is_optional && error instanceof HostRefusal
    if (error instanceof HostRefusal && isRefused(error)) pass.refusals.set(list.name, error)
    const isNoted = isBroken || (!isExpected && !list.is_backup)
    if (isNoted) pass.note(list.name, error)
    const failure = isNoted ? error.message : null
    if (isBroken || error instanceof HostUnavailable) await abandonList(pass, list, { error, failure })
  }
  return isComplete ?? true
}

async function readOpen(pass: RepositoryPass, list: string, read: () => Promise<ListedItem[]>): Promise<void> {
  const read_at = pass.run.services.clock.now()
  const items = (await readSafely(pass.run, read, (error) => pass.note(`open ${list}`, error))) ?? []
  const onFailure = (id: string, error: unknown) => pass.note(`${list} ${id}`, error)
  for (let at = 0; at < items.length; at += APPLIED_AT_ONCE)
    await applyItems(pass.run, { items: items.slice(at, at + APPLIED_AT_ONCE), read_at }, onFailure)
}

async function openRuns({ run, repository, seen }: RepositoryPass): Promise<ListedItem[]> {
  const { services, parts, sync, client } = run
  const ids = await parts.listOpenRuns(services.sql, sync.org_id, repository, OPEN_MAX)
  const missed = ids.filter((id) => !seen.has(`runs ${id}`))
  const runs = await collectConcurrently(missed, READS_AT_ONCE, (id) => client.readRun(repository, id))
  return runs.filter((read) => read !== null).map(toRunItem)
}

/** Open alerts that a whole list does not have any more: each is read, which closes it. */
async function vanishedAlerts(pass: RepositoryPass, type: HostAlertType): Promise<ListedItem[]> {
  const { run, repository, now } = pass
  const listed = pass.whole.get(getAlertListName(type))
  if (listed === undefined) return []
  const wanted = { repository, type, limit: OPEN_ALERTS_MAX }
  const open = await run.parts.listOpenAlerts(run.services.sql, run.sync.org_id, wanted)
  const vanished = open.filter(({ number }) => !listed.has(String(number)))
  return vanished.map((name) => ({
    id: String(name.number),
    ordered_at: now,
    changed_at: now,
    event: { kind: 'alert_change', data: { ...name, repository } },
  }))
}

async function openDeployments({ run, repository, seen }: RepositoryPass): Promise<ListedItem[]> {
  const { services, parts, sync } = run
  const open = await parts.listOpenDeployments(services.sql, sync.org_id, repository, OPEN_MAX)
  return open.filter(({ id }) => !seen.has(`deployments ${id}`)).map((missed) => toDeploymentItem(run, missed))
}

import { setTimeout as delay } from 'node:timers/promises'
import { removeAllAbandoned } from '../platform/objects/remove-abandoned.job.ts'
import { removeExpired } from '../retention/remove-expired.ts'
import { findState, listRemoved } from '../retention/retention.store.ts'
import { countExpired } from '../retention/retention-figures.ts'
import type { Services } from '../services.ts'
import { ProgressBar } from '../start/terminal.ts'
import { type Context, defineCommand, formatTable } from './command.ts'
import { withServices } from './with-services.ts'

/** One holds the lock of the run, one works. */
const CONNECTIONS = 2
const SLICE_MS = 60_000
const BUSY_MS = 1000

export const retentionRun = defineCommand({
  name: 'retention run',
  about:
    'Deletes what is older than the retention of the plans. A worker does the same once a day. A run that was interrupted is continued.',
  arguments: [],
  options: {
    'dry-run': { type: 'flag', value: '', about: 'only count what would be deleted' },
  },
  async run(context, _given, options) {
    await (options['dry-run'] ? showExpired(context) : remove(context))
  },
})

async function showExpired(context: Context): Promise<void> {
  const expired = await withServices(context, countExpired)
  context.print({ json: { expired }, text: describe('EXPIRED', expired) })
}

async function remove(context: Context): Promise<void> {
  const bar = new ProgressBar(context.say)
  const done = await withServices(
    context,
    async (services) => {
      const total = Object.values(await countExpired(services)).reduce((sum, count) => sum + count, 0)
      let removed = 0
      await removeAll(services, context.say, (count) => {
        removed += count
        bar.reach(removed, total, 'rows')
      })
      const objects = await removeAllAbandoned(services)
      return { objects, ...(await readFigures(services)) }
    },
    CONNECTIONS,
  )
  bar.end()
  context.print({ json: done, text: `${describe('REMOVED', done.removed)}\n${done.objects} files were removed.` })
}

/** Waits for another process that removes, and then makes sure that nothing is left. */
async function removeAll(services: Services, say: (line: string) => void, onRemoved: (removed: number) => void) {
  let hasWaited = false
  for (;;) {
    const result = await removeExpired(services, { sliceMs: SLICE_MS, onRemoved })
    if (result === 'finished') return
    if (result === 'unfinished') continue
    if (!hasWaited) say('Another process is removing; waiting for it')
    hasWaited = true
    await delay(BUSY_MS)
  }
}

async function readFigures({ sql }: Services) {
  const state = await findState(sql)
  const kinds = await listRemoved(sql)
  const removed = Object.fromEntries(kinds.map(({ kind, removed_in_run }) => [kind, removed_in_run]))
  return { started_at: state?.started_at ?? null, finished_at: state?.finished_at ?? null, removed }
}

function describe(heading: string, counts: Record<string, number>): string {
  const rows = Object.entries(counts).map(([kind, count]) => [kind.replaceAll('_', ' '), String(count)])
  return formatTable(['KIND', heading], rows, 'Nothing has expired.')
}

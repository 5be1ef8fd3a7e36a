import { UsageError } from '@shiplock/command-line/options'
import { type Distribution, distributeDatabase } from '../distribution/distribute-tables.ts'
import { openSql } from '../platform/db/sql.ts'
import { applyMigrations, applyUpdates } from '../start/apply-updates.ts'
import { openDatabase } from '../start/database.ts'
import { ProgressBar } from '../start/terminal.ts'
import { type Context, defineCommand } from './command.ts'

export const migrateDatabase = defineCommand({
  name: 'migrate',
  about:
    'Migrates the database to the current schema. Run it before "server" and "worker". "start" migrates the database itself.',
  arguments: [],
  options: {
    distribute: {
      type: 'flag',
      value: '',
      about: 'afterwards, distribute the tables over the servers of a Citus cluster (docs/operations/citus.md)',
    },
    'dry-run': { type: 'flag', value: '', about: 'with --distribute: check the cluster and show what would be moved' },
  },
  async run({ readSettings, say, print }, _, { distribute, 'dry-run': dryRun }) {
    if (dryRun && !distribute) throw new UsageError('--dry-run needs --distribute')
    const config = readSettings()
    await using opened = new AsyncDisposableStack()
    const database = await openDatabase(config, say)
    opened.defer(() => database.close())
    const sql = openSql(database.address, { max: 1, applicationName: 'shiplock migrate' })
    opened.defer(() => sql.end())
    if (distribute) await distributeDatabase(sql, { dryRun: true })
    const update = distribute ? applyMigrations : applyUpdates
    const applied = dryRun ? [] : await update(sql, say)
    const moved = distribute ? await showMoves(sql, say, dryRun === true) : null
    print({
      json: { applied, ...(moved && { distribution: moved }) },
      text: [dryRun ? '' : describeApplied(applied), moved && describeMoved(moved, dryRun === true)]
        .filter(Boolean)
        .join('\n'),
    })
  },
})

async function showMoves(sql: ReturnType<typeof openSql>, say: Context['say'], dryRun: boolean): Promise<Distribution> {
  const bar = new ProgressBar(say)
  try {
    return await distributeDatabase(sql, { dryRun, follow: (done, total) => bar.reach(done, total, 'tables') })
  } finally {
    bar.end()
  }
}

function describeApplied(applied: readonly string[]): string {
  return applied.length > 0 ? `Applied ${applied.join(', ')}` : 'The database is up to date.'
}

function describeMoved({ workers, distributed, reference }: Distribution, dryRun: boolean): string {
  const servers = workers.length === 1 ? '1 worker' : `${workers.length} workers`
  if (!dryRun && distributed.length + reference.length === 0) return `All tables are where they belong on ${servers}.`
  const counts = `${distributed.length} tables by organization over ${servers}, and ${reference.length} tables to all servers`
  return dryRun ? `Would distribute ${counts}, after pending migrations.` : `Distributed ${counts}.`
}

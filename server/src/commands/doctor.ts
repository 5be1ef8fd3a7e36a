import { type Config, ConfigError } from '../config.ts'
import { type Context, defineCommand } from './command.ts'
import { checkDatabase, type Finding } from './doctor-checks.ts'
import { table } from './table.ts'

export const doctor = defineCommand({
  name: 'doctor',
  about:
    'Checks the settings, database, migrations, object store, worker and clock. The server does not have to be running.',
  arguments: [],
  options: {},
  async run(context) {
    const findings = await examine(context)
    const rows = findings.map(({ check, ok, detail }) => [ok ? 'ok' : 'NOT OK', check, detail])
    context.print({ json: findings, text: table(['', 'CHECK', 'DETAIL'], rows, '') })
    const failed = findings.filter(({ ok }) => !ok).map(({ check }) => check)
    if (failed.length > 0) throw new Error(`Not ok: ${failed.join(', ')}`)
  },
})

async function examine(context: Context): Promise<Finding[]> {
  let config: Config
  try {
    config = context.readSettings()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [{ check: 'settings', ok: false, detail: error.mistakes.join('; ') }]
  }
  const detail = `${config.environment}, ${config.baseUrl}, data in ${config.dataDir}`
  return [{ check: 'settings', ok: true, detail }, ...(await checkDatabase(config, context.say))]
}

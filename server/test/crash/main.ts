// `npm run test:crash [-- --kills N] [--seed S] [--json]`: kills everything at random moments under
// a load, and then looks for every write that was acknowledged. Exits with 1 if one is missing.
import { parseArgs } from 'node:util'
import { crashTest } from './crash-test.ts'
import { toText } from './result.ts'

const HELP = `npm run test:crash [-- --kills N] [--seed S] [--json]

Starts the program with its own database in a temporary directory, sends requests of all kinds, kills every
process at N random moments (default 10), and then reads back every write that was acknowledged.

  --kills N   how often everything is killed (default 10)
  --seed S    repeats the choices of an earlier test (default: the time)
  --json      prints the result as JSON`

process.exitCode = await main()

async function main(): Promise<number> {
  const options = readOptions()
  if (typeof options === 'string') {
    console.error(options)
    return options === HELP ? 0 : 2
  }
  const result = await crashTest(options, (line) => process.stderr.write(`${line}\n`))
  console.log(options.json ? JSON.stringify(result, null, 2) : toText(result))
  return result.losses.length === 0 ? 0 : 1
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        kills: { type: 'string', default: '10' },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    if (values.help) return HELP
    const [kills, seed] = [Number(values.kills), Number(values.seed)]
    if (!Number.isSafeInteger(kills) || kills < 1) return '--kills must be a whole number from 1'
    if (!Number.isSafeInteger(seed) || seed < 0) return '--seed must be a whole number from 0'
    return { kills, seed, json: values.json }
  } catch (error) {
    return (error as Error).message
  }
}

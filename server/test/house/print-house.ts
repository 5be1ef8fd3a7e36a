// `npm run house`: the figures of the structure of the server's sources, their bounds and aims.
// `-- --json` prints them for machines.
import { HOUSE_PLAN } from './house-plan.ts'
import { measureHouse } from './measure-house.ts'
import { readServerSources } from './server-sources.ts'

const house = measureHouse(readServerSources())
if (process.argv.includes('--json')) console.log(JSON.stringify(house, null, 2))
else {
  const rows = Object.entries(house).map(([name, value]) => {
    const { max, aim } = HOUSE_PLAN[name] ?? {}
    return [name, String(value), max === undefined ? '' : String(max), aim === undefined ? '' : String(aim)]
  })
  const table = [['', 'now', 'at most', 'aim'], ...rows]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => (row[column] ?? '').length)))
  for (const row of table)
    console.log(
      row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  '),
    )
}

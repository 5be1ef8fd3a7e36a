// Reads each hostile report and prints the outcome as one line of JSON. Run it with little memory.
import { hostileReports } from './hostile-reports.ts'
import { readAny } from './parse-report.ts'

for (const { name, open } of hostileReports()) {
  const began = process.cpuUsage()
  const ignore = async () => {}
  const outcome = await readAny({ open }, ignore, ignore).then(
    ({ skipped, ...read }) => ({ found: 'findings' in read ? read.findings : read.statements, skipped }),
    ({ name: error, message: reason }) => ({ error, reason }),
  )
  console.log(JSON.stringify({ name, ...outcome, seconds: process.cpuUsage(began).user / 1e6 }))
}

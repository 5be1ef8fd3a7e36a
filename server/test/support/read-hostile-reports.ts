// Reads each hostile report and prints the outcome as one line of JSON. Run it with little memory.
import { readReport } from '../../src/security/formats/read-report.ts'
import { hostileReports } from './hostile-reports.ts'

for (const { name, open } of hostileReports()) {
  const began = performance.now()
  const outcome = await readReport({ open }, 'auto', async () => {}).then(
    ({ findings, skipped }) => ({ findings, skipped }),
    ({ name: error, message: reason }) => ({ error, reason }),
  )
  console.log(JSON.stringify({ name, ...outcome, seconds: (performance.now() - began) / 1000 }))
}

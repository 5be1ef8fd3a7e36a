// Posts runs to a server that logs at its most detailed level, and prints the status of each
// response. Each argument is the JSON of the fields that one run adds to a valid body.
import { startTestApi } from './api.ts'
import { postRun } from './ci-runs.ts'

const api = await startTestApi({ env: { SHIPLOCK_LOG_LEVEL: 'trace' } })
try {
  const caller = await api.caller()
  const answers = []
  for (const fields of process.argv.slice(2)) answers.push(await postRun(api, caller, JSON.parse(fields)))
  console.log('statuses', ...answers.map((answer) => answer.status))
} finally {
  await api.close()
}

// Posts runs of the given repositories to a server whose log says everything, and prints the answers' statuses.
import { startTestApi } from './api.ts'
import { postRun } from './ci-runs.ts'

const api = await startTestApi({ env: { SHIPLOCK_LOG_LEVEL: 'trace' } })
try {
  const caller = await api.caller()
  const answers = []
  for (const repository of process.argv.slice(2)) answers.push(await postRun(api, caller, { repository }))
  console.log('statuses', ...answers.map((answer) => answer.status))
} finally {
  await api.close()
}

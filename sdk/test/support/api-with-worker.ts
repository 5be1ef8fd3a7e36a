import { startWork } from '../../../server/src/start/work.ts'
import { startTestApi, type TestApi } from '../../../server/test/support/api.ts'

/** A real server that also reads reports. */
export async function startApiWithWorker(env: Record<string, string> = {}): Promise<TestApi> {
  const api = await startTestApi({ env })
  const worker = await startWork(api.services, api.database)
  const close = async () => {
    await worker.close()
    await api.close()
  }
  return { ...api, close }
}

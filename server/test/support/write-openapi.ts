// Writes openapi.json at the root: what the SDK and the console are made from.
import { writeFile } from 'node:fs/promises'
import { startTestApi } from './api.ts'
import { readOpenApi } from './openapi.ts'

const api = await startTestApi()
try {
  await writeFile(new URL('../../../openapi.json', import.meta.url), await readOpenApi(api))
} finally {
  await api.close()
}

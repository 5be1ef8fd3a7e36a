// Writes openapi.json and app-openapi.json, which the SDK and the console are made from, and
// docs/permissions.md.
import { writeFile } from 'node:fs/promises'
import { startTestApi } from './api.ts'
import { operationsOf, readOpenApi } from './openapi.ts'
import { permissionTable } from './permission-table.ts'

const api = await startTestApi()
try {
  await writeFile(new URL('../../../openapi.json', import.meta.url), await readOpenApi(api))
  const application = await readOpenApi(api, '/app/api')
  await writeFile(new URL('../../../app-openapi.json', import.meta.url), application)
  const permissions = permissionTable(operationsOf(JSON.parse(application)))
  await writeFile(new URL('../../../docs/permissions.md', import.meta.url), permissions)
} finally {
  await api.close()
}

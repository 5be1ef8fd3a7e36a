// The baseline: node:http and our client of PostgreSQL, and nothing that a product needs. No keys, no
// validation, no errors.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openEmbeddedPostgres } from '../src/platform/db/embedded/embedded-postgres.ts'
import { openSql } from '../src/platform/db/sql.ts'
import { createDeliveryTable, insertDelivery } from './bare-deliveries.ts'
import { listFindings } from './bare-findings.ts'
import { createGateTables, openGate, pollGate } from './bare-gates.ts'
import { importReport } from './bare-import.ts'
import { createReportTables, insertReport } from './bare-reports.ts'
import { createRunTable, insertRun, listRuns } from './bare-runs.ts'
import { createStatementTable, readStatement, signStatement } from './bare-statements.ts'

/** As many as our server has. */
const CONNECTIONS = 16

const database = await openEmbeddedPostgres({ dataDir: process.env.SHIPLOCK_DATA_DIR ?? '' })
const sql = openSql(database.connection, { max: CONNECTIONS, applicationName: 'bare', statementTimeoutMs: 0 })
await createRunTable(sql)
await createReportTables(sql)
await createGateTables(sql)
await createDeliveryTable(sql)
await createStatementTable(sql)

type Handler = (request: IncomingMessage, query: URLSearchParams) => Promise<unknown>

const handlers: Record<string, Handler> = {
  'POST /runs': async (request) => insertRun(sql, JSON.parse(await readBody(request))),
  'GET /runs': async (_request, query) => listRuns(sql, query.get('org') ?? ''),
  'GET /findings': async (_request, query) => listFindings(sql, query),
  'POST /reports': async (request) => insertReport(sql, JSON.parse(await readBody(request))),
  'POST /deliveries': async (request) => insertDelivery(sql, request.headers, await readBody(request)),
  'POST /gates': async (request) => openGate(sql, JSON.parse(await readBody(request))),
  'GET /gates': async (_request, query) => pollGate(sql, query.get('id') ?? ''),
  'GET /statements': async (_request, query) => readStatement(sql, query),
  'POST /statements': async (_request, query) => signStatement(sql, query),
  'POST /import': async (_request, query) => importReport(sql, query.get('file') ?? ''),
}

const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
  const [path, query] = (request.url ?? '').split('?')
  const handler = handlers[`${request.method} ${path}`]
  if (!handler) return response.writeHead(404).end()
  const data = await handler(request, new URLSearchParams(query))
  const body = JSON.stringify({ data })
  response.writeHead(request.method === 'POST' ? 201 : 200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
})

server.listen({ host: '127.0.0.1', port: 0 }, () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
process.once('SIGTERM', async () => {
  server.close()
  server.closeAllConnections()
  await sql.end()
  await database.close()
})

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

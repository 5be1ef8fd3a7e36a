import type { FastifyInstance } from 'fastify'
import { registerAuthorization } from './access/gateway/authorize.ts'
import { pipelineRunRoutes } from './ci/pipeline-runs/pipeline-run.routes.ts'
import { PipelineRun } from './ci/pipeline-runs/pipeline-run.schema.ts'
import { reportRoutes } from './ci/reports/report.routes.ts'
import { CiReportResult } from './ci/reports/report.schema.ts'
import { runRoutes } from './ci/runs/run.routes.ts'
import { CiRun } from './ci/runs/run.schema.ts'
import { resultRoutes } from './compliance/results/result.routes.ts'
import { ComplianceResult } from './compliance/results/result.schema.ts'
import { answerRoutes } from './deployments/approvals/answer.routes.ts'
import { deploymentRoutes } from './deployments/deployment.routes.ts'
import { Deployment } from './deployments/deployment.schema.ts'
import { gateRoutes } from './deployments/gates/gate.routes.ts'
import { DeploymentGate, OpenedGate } from './deployments/gates/gate.schema.ts'
import { pendingMigrations } from './platform/db/migrate.ts'
import { checkSql } from './platform/db/sql.ts'
import { createHttpServer, type HttpServer } from './platform/http/http-server.ts'
import { registerOpenApi } from './platform/http/openapi.ts'
import { registerOperations } from './platform/http/operations.routes.ts'
import { FileObjectStore } from './platform/objects/file-object-store.ts'
import { getObjectRoutes } from './platform/objects/get-object.routes.ts'
import { putObjectRoutes } from './platform/objects/put-object.routes.ts'
import { alertRoutes } from './security/alerts/alert.routes.ts'
import { Alert } from './security/alerts/alert.schema.ts'
import { findingRoutes } from './security/findings/finding.routes.ts'
import { Finding } from './security/findings/finding.schema.ts'
import { IssueExplanation } from './security/issues/explain/issue-explanation.schema.ts'
import { issueRoutes } from './security/issues/issue.routes.ts'
import { Issue } from './security/issues/issue.schema.ts'
import { uploadRoutes } from './security/uploads/upload.routes.ts'
import { SecurityUpload } from './security/uploads/upload.schema.ts'
import type { Services } from './services.ts'

export const API_VERSION = '1.0.0'

/** Shapes that stand under a name of their own in the API's description. */
const SHARED_SCHEMAS = [
  CiRun,
  CiReportResult,
  PipelineRun,
  SecurityUpload,
  Finding,
  Issue,
  IssueExplanation,
  Alert,
  ComplianceResult,
  Deployment,
  DeploymentGate,
  OpenedGate,
]

/** The whole API: what every request passes, then every slice's routes in one list. */
export async function createApp(services: Services): Promise<HttpServer> {
  const app = createHttpServer(services.log)
  const base = app as unknown as FastifyInstance
  for (const schema of SHARED_SCHEMAS) app.addSchema(schema)
  await registerOpenApi(base, { version: API_VERSION, serverUrl: services.config.baseUrl })
  registerOperations(base, readinessChecks(services))
  await registerAuthorization(base, services)

  await app.register(runRoutes, services)
  await app.register(reportRoutes, services)
  await app.register(pipelineRunRoutes, services)
  await app.register(uploadRoutes, services)
  await app.register(findingRoutes, services)
  await app.register(issueRoutes, services)
  await app.register(alertRoutes, services)
  await app.register(resultRoutes, services)
  await app.register(deploymentRoutes, services)
  await app.register(answerRoutes, services)
  await app.register(gateRoutes, services)
  if (services.objects instanceof FileObjectStore) await registerStorage(base, services.objects, services)
  return app
}

/** The file store has no server of its own, so this one takes and hands out its files. */
async function registerStorage(app: FastifyInstance, objects: FileObjectStore, { clock }: Services): Promise<void> {
  await app.register(putObjectRoutes, { objects, clock })
  await app.register(getObjectRoutes, { objects, clock })
}

function readinessChecks({ sql, objects }: Services) {
  return [
    { name: 'database', check: () => checkSql(sql) },
    { name: 'migrations', check: async () => refusePending(await pendingMigrations(sql)) },
    { name: 'objects', check: () => objects.check() },
  ]
}

function refusePending(names: string[]): void {
  if (names.length > 0) throw new Error(`Not migrated yet: ${names.join(', ')}`)
}

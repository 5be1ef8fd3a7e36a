import type { FastifyInstance } from 'fastify'
import { registerApiKeyRoutes } from './access/api-key.routes.ts'
import { ListedApiKey } from './access/api-key.schema.ts'
import { registerAuthorization } from './access/gateway/authorize.ts'
import { registerPeople } from './access/gateway/authorize-people.ts'
import { describeApplication, registerAccessDescriptions } from './access/gateway/describe-access.ts'
import { registerOpenToPeople } from './access/gateway/open-to-people.ts'
import { registerUnstatedProxies } from './access/gateway/unstated-proxies.ts'
import { registerInvitationRoutes, registerLinkRoutes } from './access/links/link.routes.ts'
import { registerMemberRoutes } from './access/members/member.routes.ts'
import { registerRoleRoutes } from './access/members/role.routes.ts'
import { registerOidcTrustRoutes } from './access/oidc-trusts/trusts/oidc-trust.routes.ts'
import { ListedTrust } from './access/oidc-trusts/trusts/trust.schema.ts'
import { registerAccountRoutes, registerOwnSessionRoutes } from './access/sign-in/account.routes.ts'
import { registerPasskeyRoutes } from './access/sign-in/passkey.routes.ts'
import { registerSessionRoutes, registerSignInRoutes } from './access/sign-in/sign-in.routes.ts'
import { registerSingleSignOnRoutes } from './access/sso/single-sign-on.routes.ts'
import { registerSsoSignInRoutes } from './access/sso/sso-sign-in.routes.ts'
import { registerAuditLogRoutes } from './audit/audit-log.routes.ts'
import { registerIngestRoutes } from './ci/ingest/ingest.routes.ts'
import { registerPipelineRunRoutes, runReportRoutes } from './ci/pipeline-runs/pipeline-run.routes.ts'
import { PipelineRun, RunJob } from './ci/pipeline-runs/pipeline-run.schema.ts'
import { reportRoutes } from './ci/reports/report.routes.ts'
import { CiReportResult, ListedReport, StoredArtifact, StoredReport } from './ci/reports/report.schema.ts'
import { runRoutes } from './ci/runs/run.routes.ts'
import { CiRun } from './ci/runs/run.schema.ts'
import { registerWebhookRoutes } from './codehosts/deliveries/webhook.routes.ts'
import { registerHostRoutes } from './codehosts/hosts/host.routes.ts'
import { registerCodeHostRoutes } from './codehosts/setup/code-host.routes.ts'
import { registerCodeHostSetupRoutes } from './codehosts/setup/code-host-setup.routes.ts'
import { registerDeliveryRoutes } from './codehosts/setup/delivery.routes.ts'
import { registerPolicyRoutes } from './compliance/policies/policy.routes.ts'
import { ListedPolicy, PolicyVersion } from './compliance/policies/policy-response.schema.ts'
import { registerResultRoutes } from './compliance/results/result.routes.ts'
import { ComplianceResult } from './compliance/results/result.schema.ts'
import { registerConsoleRoutes } from './console-server/console.routes.ts'
import { registerCompression } from './console-server/console-headers.ts'
import { registerEventRoutes } from './console-server/event.routes.ts'
import { registerRouteUpdates } from './console-server/route-updates.ts'
import { registerSavedViewRoutes } from './console-server/saved-view.routes.ts'
import { answerRoutes, registerDeploymentDecisionRoutes } from './deployments/approvals/answer.routes.ts'
import { DeploymentDecision } from './deployments/approvals/answer.schema.ts'
import { DeploymentBoard } from './deployments/board.schema.ts'
import { registerPolicyChangeRoutes } from './deployments/decisions/policy-change.routes.ts'
import {
  registerDeploymentBoardRoutes,
  registerDeploymentRoutes,
  registerLiveRoutes,
} from './deployments/deployment.routes.ts'
import { Deployment } from './deployments/deployment.schema.ts'
import { registerEnvironmentRoutes } from './deployments/environments/environment.routes.ts'
import { EnvironmentEntry } from './deployments/environments/environment.schema.ts'
import { registerConfiguredGateRoutes } from './deployments/gates/configured-gate.routes.ts'
import { ConfiguredGate, GateVersion, ListedGate } from './deployments/gates/configured-gate.schema.ts'
import { registerGateRoutes } from './deployments/gates/gate.routes.ts'
import { DeploymentGate, OpenedGate } from './deployments/gates/gate.schema.ts'
import { registerPendingChangeRoutes } from './deployments/gates/pending-change.routes.ts'
import { PendingChange } from './deployments/gates/pending-change.schema.ts'
import { registerComponentRoutes } from './inventory/components/component.routes.ts'
import { Component, ComponentWithOccurrences, Occurrence } from './inventory/components/component.schema.ts'
import { registerExposureRoutes } from './inventory/exposure/exposure.routes.ts'
import { Exposure } from './inventory/exposure/exposure.schema.ts'
import { registerSbomRoutes } from './inventory/sboms/sbom.routes.ts'
import { registerOrganizationRoutes, registerUsageRoutes } from './organizations/organization.routes.ts'
import { createHttpServer, type HttpServer } from './platform/http/http-server.ts'
import { KEY_ERROR_RESPONSES, registerDocs, registerErrorSchemas, registerOpenApi } from './platform/http/openapi.ts'
import { registerHealth } from './platform/http/operations.routes.ts'
import { FileObjectStore } from './platform/objects/file-object-store.ts'
import { serveObjects } from './platform/objects/object.routes.ts'
import { registerArtifactRoutes } from './provenance/artifacts/artifact.routes.ts'
import { ArtifactTrace } from './provenance/artifacts/artifact-trace.schema.ts'
import { registerChangeRoutes } from './provenance/changes/change.routes.ts'
import { Change, ListedChange } from './provenance/changes/change.schema.ts'
import { logRoutes } from './provenance/log/log.routes.ts'
import { registerSigningKeyRoutes, registerStatementRoutes } from './provenance/statements/statement.routes.ts'
import { SignedStatement, SigningKeys } from './provenance/statements/statement.schema.ts'
import { registerAlertRoutes } from './security/alerts/alert.routes.ts'
import { Alert } from './security/alerts/alert.schema.ts'
import { registerFindingRoutes } from './security/findings/finding.routes.ts'
import { Finding } from './security/findings/finding.schema.ts'
import { formatTitles, REPORT_FORMATS, VEX_FORMATS } from './security/formats/catalogue.ts'
import { registerIntelRoutes } from './security/intel/intel.routes.ts'
import { registerIssueRoutes } from './security/issues/issue.routes.ts'
import { Issue } from './security/issues/issue.schema.ts'
import { IssueExplanation } from './security/issues/issue-explanation.schema.ts'
import { registerStreamRoutes } from './security/reconcile/stream.routes.ts'
import { FindingStream } from './security/reconcile/stream.schema.ts'
import { registerRepositoryListRoutes } from './security/repositories/repository.routes.ts'
import { KnownRepository } from './security/repositories/repository.schema.ts'
import { registerSbomExportRoutes } from './security/sboms/sbom-export.routes.ts'
import { registerIssueEditRoutes, registerTriageRoutes } from './security/triage/triage.routes.ts'
import { registerDownloadRoutes } from './security/uploads/download.routes.ts'
import { registerUploadRoutes } from './security/uploads/upload.routes.ts'
import { SecurityUpload } from './security/uploads/upload.schema.ts'
import { registerVexRoutes } from './security/vex/vex.routes.ts'
import type { Services } from './services.ts'
import { defineReadinessChecks, registerProcessMetrics } from './start/serve-metrics.ts'
import { registerChartRoutes } from './trends/chart.routes.ts'

const DESCRIPTION = {
  prefix: '/v1',
  errorResponses: KEY_ERROR_RESPONSES,
  title: 'Shiplock',
  description: `Shiplock records the CI runs of a delivery pipeline and their results, reads security reports into findings and
issues, evaluates policies, and approves or rejects deployments.

- **Authentication**: send an API key of your organization as \`Authorization: Bearer <API key>\`. Each operation states
  the scope that the key needs. Operations with the scopes \`write:ci\` and \`write:security-findings\` also accept the OIDC
  token of a CI job, if your organization has a trust whose conditions the token satisfies.
- **Responses**: a single object is \`{ "data": … }\`, a list is \`{ "data": […], "next_cursor": …, "meta": … }\`. Lists
  are sorted newest first. To get the next page, send \`next_cursor\` as \`cursor\`.
- **Errors**: \`{ "error": { "code", "message", "details" } }\`, except for a rejected key or token:
  \`{ "message": "Unauthorized" }\` or \`{ "message": "Forbidden" }\`.
- **Repeating requests**: every operation that creates an object can be repeated safely. The status is 201 if the object
  was created and 200 if it existed.
- **Times** are RFC 3339 with an offset in requests, and UTC with milliseconds in responses.
- **Rate limits**: responses contain \`RateLimit-Limit\`, \`RateLimit-Remaining\` and \`RateLimit-Reset\`. A 429 contains
  \`Retry-After\` in seconds.`,
  version: '1.0.0',
  securitySchemes: {
    apiKey: {
      type: 'http',
      scheme: 'bearer',
      description:
        'An API key of an organization: `shl_live_…` for production, `shl_dev_…` for development. Operations with the scopes `write:ci` and `write:security-findings` also accept the OIDC token of a CI job (a JWT) for which the organization has a trust.',
    },
    pollToken: {
      type: 'http',
      scheme: 'bearer',
      description: 'The poll token of a deployment gate, as returned by openCiGate: `shl_gate_…`.',
    },
  },
  tags: [
    {
      name: 'CI ingestion',
      description: 'Create and update CI runs, and send job reports, attestations and artifacts.',
    },
    { name: 'Pipeline runs', description: 'Read the pipeline runs of every source.' },
    {
      name: 'Security uploads',
      description: `Upload ${formatTitles(REPORT_FORMATS, 'and')} reports, and ${formatTitles(VEX_FORMATS, 'and')} VEX documents.`,
    },
    { name: 'Inventory', description: 'Read the components that bills of materials contain, and where they are.' },
    { name: 'Findings and issues', description: 'Read raw findings, and the issues that they are grouped into.' },
    { name: 'Security alerts', description: 'Read the security alerts of connected code hosts.' },
    { name: 'Compliance', description: 'Read the results of policies for repositories.' },
    { name: 'Deployments', description: 'Read, approve and reject deployments.' },
    {
      name: 'Provenance',
      description: 'Read the changes that landed on tracked branches, and signed statements about them.',
    },
    { name: 'Deployment gates', description: 'Open deployment gates from CI jobs, and poll their decisions.' },
  ],
} as const

/** Schemas that OpenAPI lists by name under `components/schemas`. */
const SHARED_SCHEMAS = [
  CiRun,
  CiReportResult,
  ListedReport,
  RunJob,
  StoredReport,
  StoredArtifact,
  DeploymentBoard,
  DeploymentDecision,
  KnownRepository,
  PipelineRun,
  SecurityUpload,
  ArtifactTrace,
  Component,
  ComponentWithOccurrences,
  Occurrence,
  Exposure,
  FindingStream,
  Finding,
  Issue,
  IssueExplanation,
  Alert,
  ComplianceResult,
  Deployment,
  DeploymentGate,
  OpenedGate,
  SigningKeys,
  Change,
  ListedChange,
  SignedStatement,
  ListedApiKey,
  ListedTrust,
  ConfiguredGate,
  GateVersion,
  ListedGate,
  EnvironmentEntry,
  PendingChange,
  ListedPolicy,
  PolicyVersion,
]

const ROUTES = [
  runRoutes,
  reportRoutes,
  registerIngestRoutes,
  registerPipelineRunRoutes,
  registerUploadRoutes,
  registerStreamRoutes,
  registerFindingRoutes,
  registerComponentRoutes,
  registerExposureRoutes,
  registerSbomExportRoutes,
  registerArtifactRoutes,
  registerSbomRoutes,
  registerVexRoutes,
  registerIssueRoutes,
  registerAlertRoutes,
  registerResultRoutes,
  registerDeploymentRoutes,
  registerLiveRoutes,
  answerRoutes,
  registerGateRoutes,
  registerSigningKeyRoutes,
  registerChangeRoutes,
  registerStatementRoutes,
  // For people only, under /app/api, beside those that /v1 shares with them.
  registerAccountRoutes,
  registerApiKeyRoutes,
  registerAuditLogRoutes,
  registerChartRoutes,
  registerCodeHostRoutes,
  registerConfiguredGateRoutes,
  registerPendingChangeRoutes,
  registerEnvironmentRoutes,
  registerDeliveryRoutes,
  registerDeploymentBoardRoutes,
  registerDeploymentDecisionRoutes,
  registerDownloadRoutes,
  registerEventRoutes,
  registerIntelRoutes,
  registerInvitationRoutes,
  registerIssueEditRoutes,
  registerLinkRoutes,
  registerMemberRoutes,
  registerOidcTrustRoutes,
  registerOrganizationRoutes,
  registerOwnSessionRoutes,
  registerPasskeyRoutes,
  registerRepositoryListRoutes,
  registerRoleRoutes,
  runReportRoutes,
  registerSavedViewRoutes,
  registerSessionRoutes,
  registerSignInRoutes,
  registerTriageRoutes,
  registerSsoSignInRoutes,
  registerSingleSignOnRoutes,
  registerPolicyRoutes,
  registerPolicyChangeRoutes,
  registerCodeHostSetupRoutes,
  registerUsageRoutes,
  registerConsoleRoutes,
]

/** Creates the API: first what applies to every request, then the routes of each slice. */
export async function createApp(services: Services): Promise<HttpServer> {
  const { baseUrl, connectionsPerAddressMax: connectionsPerAddress } = services.config
  const trustedProxies = services.config.trustedProxies ?? []
  const overTls = baseUrl.startsWith('https:')
  const app = createHttpServer(services.log, { overTls, connectionsPerAddress, trustedProxies })
  const base = app as unknown as FastifyInstance
  for (const schema of SHARED_SCHEMAS) app.addSchema(schema)
  registerErrorSchemas(base)
  if (services.config.trustedProxies === null) registerUnstatedProxies(base, services)
  registerOpenToPeople(base)
  registerAccessDescriptions(base)
  await registerOpenApi(base, { ...DESCRIPTION, serverUrl: services.config.baseUrl })
  await registerOpenApi(base, { ...DESCRIPTION, ...describeApplication(services.config.baseUrl, DESCRIPTION.tags) })
  await registerDocs(base, DESCRIPTION)
  registerHealth(base, defineReadinessChecks(services))
  if (services.config.metricsPort === null) registerProcessMetrics(base, services)
  await registerAuthorization(base, services)
  registerPeople(base, services)
  registerRouteUpdates(base, services)
  registerCompression(base)

  // One context for all: a context for each would make the start take twice as long.
  await app.register(async (shared) => {
    for (const registerRoutes of ROUTES) await registerRoutes(shared, services)
    await registerHostRoutes(shared as unknown as FastifyInstance, services)
    await logRoutes(shared as unknown as FastifyInstance, services)
  })
  // What takes other bodies than JSON has a context of its own.
  await app.register(registerWebhookRoutes, services)
  // The file store has no separate server.
  const { objects, clock } = services
  if (objects instanceof FileObjectStore) await app.register(serveObjects, { objects, clock })
  return app
}
